// Stream: messages as they come, with filters that live in the address.

import { ask, query } from "/page/api.js";
import { count, empty, failed, fill, h, loading, messageCard, name, percent } from "/page/dom.js";

export function streamScreen(root, { asked, setQuery }) {
  const chosen = {
    q: asked.get("q") ?? "", event: asked.get("event") ?? "", verdict: asked.get("verdict") ?? "",
    min_doubt: asked.get("min_doubt") ?? "", reviewed: asked.get("reviewed") ?? "", since: asked.get("since") ?? "",
    candidate: asked.get("candidate") ?? "",
  };
  const only = h("div");
  const list = h("ul", { class: "messages", "aria-label": "Messages" });
  const more = h("div", { class: "row" });
  const fresh = h("div", { role: "status" });
  const eventField = h("select", { onchange: (e) => change("event", e.target.value) }, h("option", { value: "" }, "all events"));
  const doubtTold = h("span", { class: "num" }, `doubt at least ${percent(Number(chosen.min_doubt || 0))}`);
  let next = null, pending = null, unseen = 0, timer = null;

  const option = (value, text, now) => h("option", { value, selected: value === now }, text);
  put();
  load();
  ask("/v1/model").then((model) => {
    for (const event of Object.keys(model.events)) eventField.append(option(event, event, chosen.event));
    if (chosen.event && !(chosen.event in model.events)) eventField.append(option(chosen.event, chosen.event, chosen.event));
  }).catch(() => {});

  function put() {
    fill(root,
      h("div", { class: "head" }, h("div", {}, h("h1", {}, "Stream"),
        h("p", { class: "quiet small" }, "Messages as they come, each with its event and how doubtful that is."))),
      h("form", { class: "filters", role: "search", onsubmit: (e) => e.preventDefault() },
        h("label", { class: "wide" }, "Words, user or id",
          h("input", { type: "search", value: chosen.q, oninput: (e) => later("q", e.target.value) })),
        h("label", {}, "Event", eventField),
        h("label", {}, "Verdict", h("select", { onchange: (e) => change("verdict", e.target.value) },
          option("", "all", chosen.verdict), option("known", "known", chosen.verdict),
          option("review", "to review", chosen.verdict), option("new", "new?", chosen.verdict))),
        h("label", {}, "Reviewed", h("select", { onchange: (e) => change("reviewed", e.target.value) },
          option("", "all", chosen.reviewed), option("true", "yes", chosen.reviewed), option("false", "no", chosen.reviewed))),
        h("label", {}, "Since", h("input", { type: "date", value: chosen.since, onchange: (e) => change("since", e.target.value) })),
        h("label", {}, doubtTold, h("input", { type: "range", min: 0, max: 0.95, step: 0.05, value: chosen.min_doubt || 0,
          oninput: (e) => {
            doubtTold.textContent = `doubt at least ${percent(Number(e.target.value))}`;
            later("min_doubt", Number(e.target.value) ? e.target.value : "");
          } }))),
      h("div", { class: "stack" }, only, fresh, list, more));
    showOnly();
  }
  function showOnly() {
    fill(only, chosen.candidate ? h("p", { class: "row small" }, "Only messages of the candidate ", name(chosen.candidate),
      h("button", { type: "button", onclick: () => { change("candidate", ""); showOnly(); } }, "Show all")) : null);
  }
  function change(key, value) {
    chosen[key] = value;
    setQuery(chosen);
    load();
  }
  function later(key, value) {
    clearTimeout(timer);
    timer = setTimeout(() => change(key, value), 200);
  }
  async function load(cursor = null) {
    pending?.abort();
    pending = new AbortController();
    if (!cursor) {
      fill(list, h("li", {}, loading()));
      fill(fresh);
      unseen = 0;
    }
    try {
      const page = await ask(`/v1/messages${query({ ...chosen, cursor, limit: 40 })}`, { signal: pending.signal });
      if (!cursor) fill(list);
      list.append(...page.messages.map(messageCard));
      next = page.next;
      fill(more, next ? h("button", { type: "button", onclick: () => load(next) }, "Older messages") : null);
      if (!list.children.length) {
        const filtered = Object.values(chosen).some(Boolean);
        fill(list, h("li", {}, filtered
          ? empty("No message fits", "Loosen the filters, or wait for more messages.")
          : empty("No message yet", "Send messages to POST /v1/messages and they appear here.")));
      }
    } catch (error) {
      if (error.name !== "AbortError") fill(list, h("li", {}, failed(error, () => load())));
    }
  }
  return {
    told(kind, facts) {
      if (kind !== "messages") return;
      unseen += facts.count ?? 0;
      if (!list.querySelector(".message") || (scrollY < 80 && !list.contains(document.activeElement))) {
        clearTimeout(timer);
        timer = setTimeout(() => load(), 300);
      } else {
        fill(fresh, h("button", { type: "button", onclick: () => { scrollTo(0, 0); load(); } }, `${count(unseen)} new messages`));
      }
    },
    close: () => { pending?.abort(); clearTimeout(timer); },
  };
}
