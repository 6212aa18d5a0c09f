// Message: evidence by view, the neighbours it rests on, and how time weighs them.

import { ask, id } from "/page/api.js";
import { bar, count, doubtBar, failed, fill, h, loading, name, percent, toast, verdictTag, viewChips, when } from "/page/dom.js";

export function messageScreen(root, { rest }) {
  const stage = h("div", { class: "stack" }, loading(2));
  fill(root, h("div", { class: "head" }, h("div", {}, h("h1", {}, "Message"), h("p", { class: "tiny quiet" }, h("bdi", {}, rest)))), stage);

  function figures(opinion) {
    const shown = [["belief", opinion.belief], ["too little evidence", opinion.vacuity], ["contradictory evidence", opinion.dissonance],
      ["views disagree", opinion.conflict], ["novelty", opinion.novelty]];
    return h("dl", { class: "stack tight small" }, shown.filter(([, value]) => value !== null).map(([label, value]) =>
      h("div", { class: "pair" }, h("dt", { class: "quiet" }, label), h("dd", { class: "row" }, h("span", { class: "num" }, percent(value)), bar(value, `${label} ${percent(value)}`)))));
  }
  function view(each, unit) {
    return h("section", { class: "card" },
      h("div", { class: "row spread" }, h("h3", {}, `${each.view} view`), h("span", { class: "tiny quiet" }, each.neighbours === 1 ? "1 neighbour" : `${count(each.neighbours)} neighbours`)),
      h("p", {}, name(each.event), h("span", { class: "quiet small num" }, ` · belief ${percent(each.belief)}, uncertainty ${percent(each.uncertainty)}`)),
      h("div", { class: "row" }, bar(each.belief, `belief ${percent(each.belief)}`)),
      h("p", { class: "tiny quiet" }, `The message itself weighs ${percent(each.own_weight)}. A neighbour one ${unit} apart counts ${percent(Math.exp(-each.rate))} of one at the same time.`),
      each.strongest.length ? h("ul", { "aria-label": `Neighbours, ${each.view} view` }, each.strongest.map((other) => h("li", { class: "near" },
        h("span", { class: "num" }, `weight ${other.weight < 0.001 ? "< 0.1" : (other.weight * 100).toFixed(1)} %`),
        h("span", { class: "num" }, other.time_distance === 0 ? `same ${unit}` : `${count(other.time_distance)} ${unit}${other.time_distance === 1 ? "" : "s"} apart`),
        h("span", { class: "said" }, other.event === null ? h("span", { class: "quiet" }, "no label") : name(other.event)),
        h("span", { class: "text said", dir: "auto" }, other.text === null ? h("span", { class: "quiet" }, "the model keeps no text") : other.text.slice(0, 200)))))
        : h("p", { class: "small quiet" }, "It shares nothing with any message the model remembers."));
  }
  async function review(body) {
    try {
      await ask(`/v1/review/${id(rest)}`, { method: "POST", body });
      toast("Kept.");
      load();
    } catch (error) { toast(error.message); }
  }
  function show({ message, explanation, why }, events) {
    const opinion = message.opinion;
    const other = h("select", { "aria-label": "Another event", onchange: (e) => e.target.value && review({ action: "relabel", event: e.target.value }) },
      h("option", { value: "" }, "another event…"), events.map((event) => h("option", { value: event }, event)));
    fill(stage,
      h("article", { class: "card" },
        h("div", { class: "row spread" }, h("h2", {}, name(message.assigned)), h("span", { class: "row" }, verdictTag(message), doubtBar(opinion.doubt))),
        h("p", { class: "text ask", dir: "auto" }, message.text),
        h("div", { class: "row" }, h("span", { class: "tiny quiet" }, when(message.created_at ?? message.received_at), message.user ? [" · ", name(message.user)] : null), viewChips(opinion)),
        h("div", { class: "row" },
          h("button", { type: "button", onclick: () => review({ action: "accept" }) }, h("span", {}, "Accept ", name(opinion.event))),
          h("button", { type: "button", onclick: () => review({ action: "unknown" }) }, "None of the known"), other,
          message.review ? h("button", { type: "button", onclick: () => review({ action: "undo" }) }, "Undo the review") : null)),
      h("section", { class: "card" }, h("h2", {}, "The opinion"),
        h("p", { class: "small" }, name(opinion.event), ` with ${percent(opinion.probability)}; then `, name(opinion.next_event), ` (belief ${percent(opinion.next_belief)})`), figures(opinion)),
      explanation ? [h("h2", {}, "Evidence by view"), h("div", { class: "stack" }, explanation.views.map((each) => view(each, explanation.time_unit)))]
        : h("p", { class: "quiet" }, why));
  }
  async function load() {
    try {
      const [found, model] = await Promise.all([ask(`/v1/explanation/${id(rest)}`), ask("/v1/model")]);
      show(found, Object.keys(model.events));
    } catch (error) { fill(stage, failed(error, error.status === 404 ? null : load)); }
  }
  load();
  return {};
}
