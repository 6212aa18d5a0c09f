// Events: each one's timeline, words, examples and confusion partners; candidates for new ones.

import { ask, id } from "/page/api.js";
import { columns } from "/page/charts.js";
import { count, doubtBar, empty, failed, fill, h, loading, messageLink, name, percent, toast, when } from "/page/dom.js";

const FIRST = 6;
const streamOf = (event) => `#/stream?${new URLSearchParams({ event })}`;

export function eventsScreen(root) {
  const candidates = h("section", { class: "stack", "aria-label": "Candidates", tabindex: -1 });
  const list = h("div", {}, loading());
  let timer = null, known = [], all = false;
  fill(root, h("div", { class: "head" }, h("div", {}, h("h1", {}, "Events"),
    h("p", { class: "quiet small" }, "What is happening, and what may be a new event."))),
  h("div", { class: "stack" }, candidates, list));

  function card(each, bins) {
    return h("li", { class: "card" },
      h("div", { class: "row spread" }, h("h2", {}, name(each.event)),
        each.known ? null : h("span", { class: "tag new" }, "not learned yet")),
      h("div", { class: "row spread small" },
        h("a", { href: streamOf(each.event) }, `${count(each.messages)} messages`),
        each.mean_doubt === null ? h("span", { class: "quiet tiny" }, "silent") : doubtBar(each.mean_doubt)),
      each.messages ? columns(each.volume, `Messages over time, one column for ${bins.seconds / 3600} hours`) : null,
      each.messages ? h("p", { class: "tiny quiet" }, `${when(each.first)} to ${when(each.last)} · ${count(each.training_messages)} training messages`)
        : h("p", { class: "tiny quiet" }, `${count(each.training_messages)} training messages`),
      each.keywords.length ? h("div", { class: "row" }, each.keywords.map((word) => h("span", { class: "chip" }, name(word)))) : null,
      each.examples.length ? h("ul", { class: "stack tight small" }, each.examples.slice(0, 2).map((example) =>
        h("li", {}, h("a", { class: "text clamp", dir: "auto", href: messageLink(example.id) }, example.text)))) : null,
      each.confused_with.length ? h("p", { class: "small quiet" }, "mixed up with ",
        each.confused_with.map((other, at) => [at ? ", " : "", name(other.event), ` (${other.messages})`])) : null);
  }
  async function decide(each, body) {
    try {
      const made = await ask(`/v1/candidates/${id(each.id)}`, { method: "POST", body });
      const back = made.state !== "open" && body.action !== "undo";
      const words = { accepted: `Accepted: ${count(made.reviewed)} messages reviewed.`, dismissed: `Dismissed: ${count(made.reviewed)} messages are off-topic.`,
        open: body.action === "undo" ? "Open again." : "Merged." };
      toast(words[made.state], back ? "Undo" : null, () => decide(made, { action: "undo" }));
      await load();
      candidates.focus();
    } catch (error) { toast(error.message); }
  }
  function candidateCard(each, others) {
    const title = h("input", { value: each.name, maxlength: 300 });
    const choice = (label, values, named) => (values.length ? h("optgroup", { label }, values.map((value) => h("option", { value }, named(value)))) : null);
    const into = h("select", { "aria-label": `Merge ${each.name} into` }, h("option", { value: "" }, "merge into…"),
      choice("candidates", others.map((other) => `candidate ${other.id}`), (value) => others.find((other) => value === `candidate ${other.id}`).name),
      choice("events", known.map((event) => `event ${event}`), (value) => value.slice(6)));
    into.addEventListener("change", () => {
      const [kind, ...rest] = into.value.split(" ");
      if (kind) decide(each, { action: "merge", [kind]: rest.join(" ") });
    });
    return h("li", { class: "card", "data-candidate": each.id },
      h("div", { class: "row spread" }, h("h3", {}, name(each.name)), h("span", { class: "tag new" }, `${count(each.messages)} messages`)),
      h("p", { class: "tiny quiet" }, `${when(each.first)} to ${when(each.last)} · about ${percent(each.purity)} belong together · ${each.id}`),
      h("div", { class: "row" }, each.keywords.map((word) => h("span", { class: "chip" }, name(word)))),
      h("ul", { class: "stack tight small" }, each.examples.map((example) => h("li", {},
        h("a", { class: "text clamp", dir: "auto", href: messageLink(example.id) }, example.text)))),
      h("p", { class: "small" }, h("a", { href: `#/stream?${new URLSearchParams({ candidate: each.id })}` }, `All ${count(each.messages)} messages`)),
      h("div", { class: "row ends" }, h("label", { class: "wide" }, "Name of the event", title),
        h("button", { class: "main", type: "button", onclick: () => decide(each, { action: "accept", event: title.value }) }, "Accept"),
        h("button", { type: "button", onclick: () => decide(each, { action: "dismiss" }) }, "Dismiss"), into));
  }
  function decidedList(decided) {
    return decided.length ? h("details", { class: "card" }, h("summary", {}, `Decided before: ${count(decided.length)}`),
      h("ul", { class: "stack tight small" }, decided.map((each) => h("li", { class: "row spread" },
        h("span", {}, name(each.name), h("span", { class: "quiet" }, ` · ${each.state} · ${count(each.messages)} messages`)),
        h("button", { type: "button", "aria-label": `Undo ${each.name}`, onclick: () => decide(each, { action: "undo" }) }, "Undo"))))) : null;
  }
  function showCandidates(found, decided) {
    const none = found.measured ? "No group of messages looks like an event the model does not know."
      : "This model does not measure novelty, so that it calls no message new. Train it again, with validation messages.";
    const shown = all ? found.candidates : found.candidates.slice(0, FIRST);
    fill(candidates, h("h2", {}, "Candidates for new events"), found.candidates.length
      ? h("ul", { class: "grid" }, shown.map((each) => candidateCard(each, found.candidates.filter((other) => other !== each))))
      : h("p", { class: "quiet small" }, none),
    found.candidates.length > shown.length ? h("div", {}, h("button", { type: "button", onclick: () => { all = true; showCandidates(found, decided); candidates.focus(); } },
      `Show all ${count(found.candidates.length)} candidates`)) : null,
    found.waiting ? h("p", { class: "quiet tiny" }, `${count(found.waiting)} messages are still to be grouped.`) : null, decidedList(decided));
  }
  async function load() {
    try {
      const states = ["open", "accepted", "dismissed"];
      const [overview, found, ...decided] = await Promise.all([ask("/v1/events"), ...states.map((state) => ask(`/v1/candidates?state=${state}`))]);
      known = overview.events.filter((each) => each.known).map((each) => each.event);
      showCandidates(found, decided.flatMap((each) => each.candidates));
      fill(list, overview.events.length ? h("div", { class: "stack" }, h("h2", {}, "Events"),
        h("ul", { class: "grid" }, overview.events.map((each) => card(each, overview.bins))))
        : empty("No event yet", "The model knows none, and no message came in."));
    } catch (error) { fill(candidates); fill(list, failed(error, load)); }
  }
  load();
  return {
    told(kind) {
      const at = document.activeElement;  // whoever writes or chooses is not disturbed
      if (kind === "learning" || (root.contains(at) && /^(INPUT|SELECT|SUMMARY|BUTTON)$/.test(at.tagName))) return;
      clearTimeout(timer);
      timer = setTimeout(load, 1500);
    },
    close: () => clearTimeout(timer),
  };
}
