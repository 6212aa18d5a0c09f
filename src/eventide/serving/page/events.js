// Events: each one's timeline, words, examples and confusion partners; candidates for new ones.

import { ask, id } from "/page/api.js";
import { columns } from "/page/charts.js";
import { count, doubtBar, empty, failed, fill, h, loading, messageLink, name, toast, when } from "/page/dom.js";

const streamOf = (event) => `#/stream?${new URLSearchParams({ event })}`;

export function eventsScreen(root) {
  const candidates = h("section", { class: "stack", "aria-label": "Candidates" });
  const list = h("div", {}, loading());
  let timer = null, known = [];
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
  function candidateCard(each) {
    const title = h("input", { value: each.name, maxlength: 300, "aria-label": "Name of the event" });
    const into = h("select", { "aria-label": "Merge into" }, h("option", { value: "" }, "merge into…"),
      known.map((event) => h("option", { value: event }, event)));
    const decide = async (body) => {
      try {
        const made = await ask(`/v1/candidates/${id(each.id)}`, { method: "POST", body });
        toast(`${count(made.reviewed)} messages reviewed.`);
        load();
      } catch (error) { toast(error.message); }
    };
    into.addEventListener("change", () => into.value && decide({ action: "merge", event: into.value }));
    return h("li", { class: "card", "data-candidate": each.id },
      h("div", { class: "row spread" }, h("h3", {}, name(each.name)), h("span", { class: "tag new" }, `${count(each.messages)} messages`)),
      h("p", { class: "tiny quiet" }, `${when(each.first)} to ${when(each.last)}`),
      h("div", { class: "row" }, each.keywords.map((word) => h("span", { class: "chip" }, name(word)))),
      h("ul", { class: "stack tight small" }, each.examples.map((example) => h("li", {},
        h("a", { class: "text clamp", dir: "auto", href: messageLink(example.id) }, example.text)))),
      h("div", { class: "row" }, title,
        h("button", { class: "main", type: "button", onclick: () => decide({ action: "accept", event: title.value }) }, "Accept as event"),
        h("button", { type: "button", onclick: () => decide({ action: "dismiss" }) }, "Dismiss"), into));
  }
  async function load() {
    try {
      const [overview, found] = await Promise.all([ask("/v1/events"), ask("/v1/candidates")]);
      known = overview.events.filter((each) => each.known).map((each) => each.event);
      fill(candidates, h("h2", {}, "Candidates"), found.candidates.length
        ? h("ul", { class: "grid" }, found.candidates.map(candidateCard))
        : h("p", { class: "quiet small" }, "No group of messages looks like an event the model does not know."));
      fill(list, overview.events.length ? h("div", { class: "stack" }, h("h2", {}, "Known events"),
        h("ul", { class: "grid" }, overview.events.map((each) => card(each, overview.bins))))
        : empty("No event yet", "The model knows none, and no message came in."));
    } catch (error) { fill(list, failed(error, load)); }
  }
  load();
  return {
    told(kind) {
      if (kind === "learning" || root.contains(document.activeElement)) return;
      clearTimeout(timer);
      timer = setTimeout(load, 1500);
    },
    close: () => clearTimeout(timer),
  };
}
