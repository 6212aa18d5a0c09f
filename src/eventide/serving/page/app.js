// The shell: which screen is open, the theme, the token, and live updates.

import { ask, listen, token } from "/page/api.js";
import { fill, h, toast } from "/page/dom.js";
import { eventsScreen } from "/page/events.js";
import { mapScreen } from "/page/map.js";
import { messageScreen } from "/page/message.js";
import { reviewScreen } from "/page/review.js";
import { streamScreen } from "/page/stream.js";
import { trustScreen } from "/page/trust.js";

const SCREENS = {
  stream: ["Stream", streamScreen],
  review: ["Review", reviewScreen],
  events: ["Events", eventsScreen],
  map: ["Map", mapScreen],
  trust: ["Trust", trustScreen],
};
const main = document.getElementById("main");
const nav = document.getElementById("nav");
let current = null;

function place() {
  const [path, asked = ""] = location.hash.replace(/^#\//, "").split("?");
  const [screen, ...rest] = path.split("/");
  return { screen: screen || "stream", rest: rest.map((each) => {
    try { return decodeURIComponent(each); } catch { return each; }
  }).join("/"), asked: new URLSearchParams(asked) };
}

export function setQuery(screen, values) {
  const kept = new URLSearchParams(Object.entries(values).filter(([, value]) => value !== "" && value !== null));
  const words = kept.toString();
  history.replaceState(null, "", `#/${screen}${words ? `?${words}` : ""}`);
}

function open() {
  const { screen, rest, asked } = place();
  current?.close?.();
  const [title, make] = SCREENS[screen] ?? (screen === "message" ? ["Message", messageScreen] : SCREENS.stream);
  document.title = `${title} · Eventide`;
  for (const link of nav.querySelectorAll("a")) {
    if (link.dataset.screen === screen) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  fill(main);
  current = make(main, { rest, asked, setQuery: (values) => setQuery(screen, values) });
}

function theme(chosen) {
  document.documentElement.dataset.theme = chosen;
  const button = document.getElementById("theme");
  button.textContent = chosen === "dark" ? "Light" : "Dark";
  button.setAttribute("aria-label", `Use the ${chosen === "dark" ? "light" : "dark"} theme`);
}

function askToken() {
  if (document.querySelector("dialog.token")) return;
  const field = h("input", { type: "password", autocomplete: "off", required: true, "aria-label": "Token" });
  const dialog = h("dialog", { class: "token", "aria-labelledby": "token-title" },
    h("form", { class: "stack", onsubmit: (event) => {
      event.preventDefault();
      token.set(field.value.trim());
      location.reload();
    } },
    h("h2", { id: "token-title" }, "This desk asks for a token"),
    h("p", { class: "small quiet" }, "Whoever runs it makes one with: eventide token add NAME --role review"),
    field, h("button", { class: "main", type: "submit" }, "Open the desk")));
  document.body.append(dialog);
  dialog.showModal();
}

for (const [screen, [title]] of Object.entries(SCREENS)) {
  nav.append(h("li", {}, h("a", { href: `#/${screen}`, "data-screen": screen }, title)));
}
const stored = localStorage.getItem("eventide-theme");
theme(stored ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light"));
document.getElementById("theme").addEventListener("click", () => {
  const next = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
  localStorage.setItem("eventide-theme", next);
  theme(next);
});
window.addEventListener("hashchange", () => { open(); main.focus({ preventScroll: true }); scrollTo(0, 0); });
window.addEventListener("need-token", askToken);

const me = await ask("/v1/me").catch(() => ({ need_token: false, name: "", allows: ["read"] }));
if (me.need_token && !me.name) {
  askToken();
} else {
  open();
  listen((kind, facts) => {
    current?.told?.(kind, facts);
    if (kind === "learning") toast(facts.state === "done" ? "The model has learned." : "Learning failed.");
  }, (live) => {
    const state = document.getElementById("live");
    state.dataset.on = live;
    fill(state, h("span", {}, live ? "live" : "not connected"));
  });
}
