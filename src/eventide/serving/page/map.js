// Map: messages and prototypes on a plane. Hover shows a message, a dragged frame selects some.

import { ask } from "/page/api.js";
import { COLOURS } from "/page/charts.js";
import { count, empty, failed, fill, h, loading, messageLink, name, percent, s } from "/page/dom.js";

const W = 900, H = 600, EDGE = 24;

export function mapScreen(root) {
  const stage = h("div", { class: "stack" }, loading(2));
  const hidden = new Set();
  fill(root, h("div", { class: "head" }, h("div", {}, h("h1", {}, "Map"),
    h("p", { class: "quiet small" }, "Messages close together look alike to the model. Pale: what it remembers; bold: the newest messages; rings: the middle of each event. Axes have no unit."))), stage);

  function draw(found) {
    const events = [...new Set([...found.prototypes, ...found.messages].map((each) => each.event))];
    const colour = (event) => (event === null ? "#b3261e" : COLOURS[events.indexOf(event) % COLOURS.length]);
    const extent = (axis) => {
      const values = [...found.memory, ...found.messages, ...found.prototypes].map((each) => each[axis]);
      const low = Math.min(...values), high = Math.max(...values);
      return (value) => (value - low) / (high - low || 1);
    };
    const [across, up] = [extent("x"), extent("y")];
    const x = (value) => EDGE + across(value) * (W - 2 * EDGE);
    const y = (value) => H - EDGE - up(value) * (H - 2 * EDGE);
    const tip = h("div", { class: "tip", hidden: true });
    const chosen = h("div", { class: "stack" });
    const show = (event, point) => {
      fill(tip, h("strong", {}, name(point.event)), h("br"), h("span", { class: "text" }, point.text.slice(0, 160)));
      tip.hidden = false;
      const frame = box.getBoundingClientRect();
      const left = Math.min(event.clientX - frame.left + 12, frame.width - 270);
      tip.style.left = `${Math.max(left, 0)}px`;
      tip.style.top = `${event.clientY - frame.top + 14}px`;
    };
    const frame = s("rect", { fill: "none", stroke: "currentColor", "stroke-dasharray": "4 3", visibility: "hidden" });
    const dots = s("g");
    const picture = s("svg", { class: "chart", viewBox: `0 0 ${W} ${H}`, role: "img",
      "aria-label": `${found.messages.length} messages and ${found.prototypes.length} events on a plane; the list below says what is selected` }, dots, frame);
    const box = h("div", { class: "mapbox card" }, picture, tip);
    // Names are moved up or down until none lies on another.
    function labelled(prototypes) {
      const placed = [];
      return [...prototypes].sort((a, b) => y(a.y) - y(b.y)).map((each) => {
        const text = each.event.length > 28 ? `${each.event.slice(0, 27)}…` : each.event;
        const wide = 8 * text.length, left = x(each.x) + 13 + wide > W;
        const from = left ? x(each.x) - 13 - wide : x(each.x) + 13;
        let down = y(each.y) + 4;
        while (placed.some(([start, end, at]) => from < end && from + wide > start && Math.abs(at - down) < 15)) down += 4;
        placed.push([from, from + wide, down]);
        return [s("circle", { cx: x(each.x), cy: y(each.y), r: 9, fill: "none", stroke: colour(each.event), "stroke-width": 3 }),
          s("text", { x: left ? x(each.x) - 13 : from, y: down, "text-anchor": left ? "end" : "start", "font-size": 13 }, text)];
      });
    }
    function paint() {
      const seen = (each) => !hidden.has(each.event);
      fill(dots,
        found.memory.filter(seen).map((each) => s("circle", { cx: x(each.x), cy: y(each.y), r: 3, fill: colour(each.event), "fill-opacity": 0.22 })),
        found.messages.filter(seen).map((each) => s("circle", { cx: x(each.x), cy: y(each.y), r: 4.5 + 3 * each.doubt, fill: colour(each.event),
          "fill-opacity": 0.9, stroke: "currentColor", "stroke-width": each.doubt > 0.5 ? 1.2 : 0,
          onpointermove: (event) => show(event, each), onpointerleave: () => { tip.hidden = true; },
          onclick: () => { location.hash = messageLink(each.id); } })),
        labelled(found.prototypes.filter(seen)));
    }
    let start = null;
    const at = (event) => {
      const size = picture.getBoundingClientRect();
      return [((event.clientX - size.left) / size.width) * W, ((event.clientY - size.top) / size.height) * H];
    };
    picture.addEventListener("pointerdown", (event) => { start = at(event); });
    picture.addEventListener("pointermove", (event) => {
      if (!start) return;
      const now = at(event);
      for (const [key, value] of Object.entries({ x: Math.min(start[0], now[0]), y: Math.min(start[1], now[1]),
        width: Math.abs(start[0] - now[0]), height: Math.abs(start[1] - now[1]), visibility: "visible" })) frame.setAttribute(key, value);
    });
    picture.addEventListener("pointerup", (event) => {
      const from = start;
      start = null;
      frame.setAttribute("visibility", "hidden");
      if (!from) return;
      const now = at(event);
      if (Math.abs(from[0] - now[0]) < 6) return;
      list(found.messages.filter((each) => !hidden.has(each.event)
        && (x(each.x) - from[0]) * (x(each.x) - now[0]) <= 0 && (y(each.y) - from[1]) * (y(each.y) - now[1]) <= 0), "in the frame");
    });
    function list(messages, where) {
      fill(chosen, h("h2", {}, `${count(messages.length)} messages ${where}`),
        h("ul", { class: "messages" }, messages.slice(0, 30).map((each) => h("li", { class: "card" },
          h("div", { class: "row spread" }, h("a", { href: messageLink(each.id) }, name(each.event)), h("span", { class: "tiny quiet num" }, `doubt ${percent(each.doubt)}`)),
          h("p", { class: "text clamp small", dir: "auto" }, each.text)))));
    }
    const legend = h("div", { class: "row legend", role: "group", "aria-label": "Events shown" }, events.map((event) => {
      const swatch = h("span", { class: "swatch" });
      swatch.style.background = colour(event);
      const button = h("button", { type: "button", "aria-pressed": "true", onclick: () => {
        if (hidden.has(event)) hidden.delete(event); else hidden.add(event);
        button.setAttribute("aria-pressed", String(!hidden.has(event)));
        paint();
      } }, swatch, name(event));
      return button;
    }));
    paint();
    list([...found.messages].sort((a, b) => b.doubt - a.doubt).slice(0, 5), "with the most doubt");
    fill(stage, legend, box, found.messages.length ? chosen : empty("No message yet", "The map shows what the model remembers."));
  }
  const load = () => ask("/v1/map").then(draw).catch((error) => fill(stage, failed(error, load)));
  load();
  return { told(kind) { if (kind === "model") load(); } };
}
