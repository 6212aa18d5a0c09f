// Review: one message at a time, at most two keys each. The next one is here before the answer is.

import { ask, id, query } from "/page/api.js";
import { count, doubtBar, empty, failed, fill, h, loading, messageLink, name, toast, verdictTag, viewChips, when } from "/page/dom.js";

const LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789";
const AHEAD = 10;

export function reviewScreen(root, { asked }) {
  const onlyEvent = asked.get("event");
  const queue = [];
  const done = [];
  const seen = new Set();
  let events = [], left = 0, cursor = null, fetching = null, end = false, picker = null, reviewed = 0;
  const stage = h("div", { class: "stack" }, loading(1));
  const tally = h("p", { class: "small quiet num", role: "status" });
  const learn = h("div", { class: "row" });
  fill(root, h("div", { class: "head" }, h("div", {}, h("h1", {}, "Review"),
    h("p", { class: "quiet small" }, "The most doubtful first. What you decide is kept at once, and the model can learn from it."),
    tally), learn), stage);

  async function refill() {
    if (fetching || end) return fetching;
    fetching = (async () => {
      const page = await ask(`/v1/review${query({ limit: 40, cursor, event: onlyEvent })}`);
      cursor = page.next;
      end = !cursor;
      events = page.events;
      left = page.counts.open ?? 0;
      showLearn(page.counts);
      for (const message of page.messages) {
        if (!seen.has(message.id)) { seen.add(message.id); queue.push(message); }
      }
    })();
    try { await fetching; } finally { fetching = null; }
  }
  function showLearn(counts) {
    const labels = (counts.accept ?? 0) + (counts.relabel ?? 0) + (counts["new-event"] ?? 0);
    fill(learn, labels ? h("button", { type: "button", onclick: startLearning }, `Learn from ${count(labels)} labels`) : null);
  }
  async function startLearning() {
    try {
      await ask("/v1/model/learn", { method: "POST" });
      toast("Learning has begun; the desk goes on meanwhile.");
    } catch (error) { toast(error.message); }
  }
  function options(message) {
    const opinion = message.opinion;
    const near = [opinion.next_event, ...Object.values(opinion.views).map((view) => view.event)];
    const first = [...new Set(near)].filter((event) => event && event !== opinion.event);
    return [...first, ...events.filter((event) => event !== opinion.event && !first.includes(event))].slice(0, 9);
  }
  // At once, not when the browser tells of it: a key that follows quickly is meant for the next message.
  function shut() {
    const dialog = picker;
    picker = null;
    dialog?.close();
    dialog?.remove();
  }
  function open(dialog) {
    picker = dialog;
    dialog.addEventListener("close", () => { if (picker === dialog) shut(); });
    dialog.addEventListener("keydown", (event) => event.stopPropagation());
    document.body.append(dialog);
    dialog.showModal();
  }
  function show() {
    shut();
    const message = queue[0];
    tally.textContent = `${count(reviewed)} reviewed now, ${count(Math.max(left, queue.length))} waiting`;
    if (!message) {
      fill(stage, end ? empty("Nothing to review", "Every message has been looked at.") : loading(1),
        done.length ? h("button", { type: "button", onclick: undo }, h("kbd", {}, "Z"), "Undo the last one") : null);
      return;
    }
    const near = options(message);
    fill(stage,
      h("article", { class: "card", "aria-label": "Message to review", "data-id": message.id },
        h("div", { class: "row spread" },
          h("span", { class: "row" }, h("span", { class: "quiet small" }, "Is this about"), h("h2", {}, name(message.opinion.event), "?")),
          h("span", { class: "row" }, verdictTag(message), doubtBar(message.opinion.doubt))),
        h("p", { class: "text ask", dir: "auto" }, message.text),
        h("div", { class: "row" }, h("span", { class: "tiny quiet" }, when(message.created_at ?? message.received_at),
          message.user ? [" · ", name(message.user)] : null), viewChips(message.opinion),
        h("a", { class: "tiny", href: messageLink(message.id) }, "evidence")),
        h("div", {}, h("h3", { class: "small" }, "Why you are asked"), h("ul", { class: "why" }, message.why.map((each) => h("li", {}, each)))),
        h("div", { class: "row" },
          h("button", { class: "main", type: "button", onclick: () => decide("accept") }, h("kbd", {}, "A"), "Yes, accept"),
          h("button", { type: "button", onclick: () => decide("unknown") }, h("kbd", {}, "U"), "None of the known"),
          h("button", { type: "button", onclick: pick }, h("kbd", {}, "R"), "Another event"),
          h("button", { type: "button", onclick: nameNew }, h("kbd", {}, "N"), "New event"),
          h("button", { type: "button", onclick: skip }, h("kbd", {}, "S"), "Skip"),
          h("button", { type: "button", disabled: !done.length, onclick: undo }, h("kbd", {}, "Z"), "Undo"))),
      h("section", { class: "card", "aria-label": "Other events" }, h("h3", { class: "small" }, "No, it is about"),
        h("div", { class: "options" }, near.map((event, at) =>
          h("button", { type: "button", onclick: () => decide("relabel", event) }, h("kbd", {}, at + 1), name(event))))));
  }
  function decide(action, event) {
    const message = queue.shift();
    if (!message) return;
    done.push(message);
    reviewed += 1;
    left -= 1;
    show();
    if (queue.length < AHEAD) refill().then(() => { if (!stage.querySelector("article")) show(); }).catch(() => {});
    ask(`/v1/review/${id(message.id)}`, { method: "POST", body: event ? { action, event } : { action } }).catch((error) => {
      done.splice(done.indexOf(message), 1);
      reviewed -= 1;
      left += 1;
      queue.unshift(message);
      toast(`Not kept: ${error.message}`);
      show();
    });
  }
  function skip() {
    if (queue.length > 1) { queue.push(queue.shift()); show(); }
  }
  async function undo() {
    const message = done.pop();
    if (!message) return;
    queue.unshift(message);
    reviewed -= 1;
    left += 1;
    show();
    try { await ask(`/v1/review/${id(message.id)}`, { method: "POST", body: { action: "undo" } }); } catch (error) { toast(error.message); }
  }
  function pick() {
    const now = queue[0];
    if (!now) return;
    const others = events.filter((event) => event !== now.opinion.event);
    const listed = h("div", { class: "options" });
    const draw = (words) => fill(listed, others.filter((event) => event.toLowerCase().includes(words)).slice(0, 200).map((event, at) =>
      h("button", { type: "button", onclick: () => choose(event) }, !words && at < LETTERS.length ? h("kbd", {}, LETTERS[at].toUpperCase()) : null, name(event))));
    const choose = (event) => { shut(); decide("relabel", event); };
    const search = others.length > LETTERS.length
      ? h("label", {}, "Search", h("input", { type: "search", oninput: (e) => draw(e.target.value.trim().toLowerCase()) })) : null;
    const dialog = h("dialog", { class: "stack", "aria-label": "Choose another event" },
      h("h2", {}, "Which event?"), search, listed);
    dialog.addEventListener("keydown", (event) => {
      const at = LETTERS.indexOf(event.key.toLowerCase());
      if (event.target.tagName !== "INPUT" && !event.ctrlKey && !event.metaKey && at >= 0 && at < others.length && event.key.length === 1) {
        event.preventDefault();
        choose(others[at]);
      }
    });
    draw("");
    open(dialog);
  }
  function nameNew() {
    if (!queue[0]) return;
    const field = h("input", { required: true, maxlength: 300, "aria-label": "Name of the event" });
    open(h("dialog", { "aria-label": "Name the new event" }, h("form", { class: "stack", onsubmit: (event) => {
      event.preventDefault();
      const named = field.value.trim();
      shut();
      if (named) decide("new-event", named);
    } }, h("h2", {}, "Name the new event"), field, h("button", { class: "main", type: "submit" }, "Keep it"))));
  }
  function key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || picker || /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) return;
    const pressed = event.key.toLowerCase();
    const act = { a: () => decide("accept"), u: () => decide("unknown"), r: pick, n: nameNew, s: skip, z: undo }[pressed];
    if (act) { event.preventDefault(); act(); return; }
    if (/^[1-9]$/.test(pressed) && queue[0]) {
      const chosen = options(queue[0])[Number(pressed) - 1];
      if (chosen) { event.preventDefault(); decide("relabel", chosen); }
    }
  }
  document.addEventListener("keydown", key);
  const start = () => refill().then(show).catch((error) => fill(stage, failed(error, start)));
  start();
  return {
    told(kind) {
      if (kind === "messages" && !queue.length) { cursor = null; end = false; refill().then(show).catch(() => {}); }
    },
    close: () => { document.removeEventListener("keydown", key); shut(); },
  };
}
