// Elements from data. Whatever comes from a message goes in as a text node, never as markup.

export function h(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "class") node.className = value;
    else if (name === "value") node.value = value;
    else if (name === "checked" || name === "disabled" || name === "selected") node[name] = value;
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  put(node, children);
  return node;
}

export function put(node, children) {
  for (const child of children.flat(9)) {
    if (child === null || child === undefined || child === false) continue;
    node.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return node;
}

export function fill(node, ...children) {
  node.replaceChildren();
  return put(node, children);
}

export function s(tag, attributes = {}, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, String(value));
  }
  return put(node, children);
}

// Names stand apart from the direction of the text around them.
export const name = (text) => h("bdi", {}, text ?? "none of the known");
export const percent = (share) => (share === null || share === undefined ? "–" : `${Math.round(share * 100)} %`);
export const count = (number) => Number(number).toLocaleString("en");

export function when(iso) {
  if (!iso) return "no time";
  return new Date(iso).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short", timeZone: "UTC" });
}

export function doubtBar(doubt) {
  const fillBar = h("i");
  fillBar.style.width = `${Math.round(doubt * 100)}%`;
  return h("span", { class: "doubt" },
    h("span", { class: doubt >= 0.5 ? "bar high" : "bar", "aria-hidden": "true" }, fillBar),
    h("span", { class: "num" }, `doubt ${percent(doubt)}`));
}

export function bar(share, label) {
  const fillBar = h("i");
  fillBar.style.width = `${Math.round(Math.min(Math.max(share, 0), 1) * 100)}%`;
  return h("span", { class: "bar long", role: "img", "aria-label": label }, fillBar);
}

export function viewChips(opinion) {
  return Object.entries(opinion.views).map(([view, said]) => {
    const agrees = said.event === opinion.event;
    const told = agrees ? `${view}: agrees` : `${view}: ${said.event}`;
    return h("span", { class: `chip ${agrees ? "agree" : "differ"}`,
      title: `${told}, uncertainty ${percent(said.uncertainty)}, ${said.neighbours} neighbours` },
    view, agrees ? " ✓" : [" → ", name(said.event)]);
  });
}

export const VERDICTS = { known: "known", review: "to review", new: "new?" };

export function verdictTag(message) {
  if (message.review) {
    const words = { accept: "accepted", relabel: "relabelled", unknown: "unknown", "new-event": "new event" };
    return h("span", { class: "tag" }, words[message.review.action]);
  }
  const verdict = message.opinion.verdict;
  return h("span", { class: `tag ${verdict}` }, VERDICTS[verdict] ?? verdict);
}

export function messageLink(id) {
  return `#/message/${encodeURIComponent(id)}`;
}

export function messageCard(message) {
  return h("li", { class: "card message" },
    h("div", { class: "row spread" },
      h("a", { class: "event", href: messageLink(message.id) }, name(message.assigned)),
      h("span", { class: "row" }, verdictTag(message), doubtBar(message.opinion.doubt))),
    h("p", { class: "text clamp", dir: "auto" }, message.text),
    h("div", { class: "row" },
      h("span", { class: "tiny quiet" }, when(message.created_at ?? message.received_at),
        message.user ? [" · ", name(message.user)] : null),
      viewChips(message.opinion)));
}

export function empty(title, ...words) {
  return h("div", { class: "card empty" }, h("h2", {}, title), h("p", {}, words));
}

export function loading(rows = 3) {
  return h("div", { class: "stack", role: "status", "aria-label": "Loading" },
    Array.from({ length: rows }, () => h("div", { class: "skeleton" })));
}

export function failed(error, again) {
  return h("div", { class: "card error", role: "alert" },
    h("h2", {}, "That did not work"), h("p", {}, error.message),
    error.next ? h("p", { class: "small" }, error.next) : null,
    again ? h("button", { type: "button", onclick: again }, "Try again") : null);
}

export function toast(text, action, act) {
  const node = h("div", { class: "toast row" }, text,
    action ? h("button", { type: "button", onclick: () => { node.remove(); act(); } }, action) : null);
  document.getElementById("toasts").append(node);
  setTimeout(() => node.remove(), action ? 10000 : 4000);
}
