// Small charts as SVG. Each has a label in words; figures stand in a table beside it.

import { s } from "/page/dom.js";

export const COLOURS = ["#0b7a75", "#c2571a", "#5b5bd6", "#a03b7b", "#3f7d20", "#b8860b", "#2f6fb3", "#8d5524", "#6b7280", "#d1495b",
  "#117a8b", "#7a4fbf"];

export function columns(values, label) {
  const width = 240, height = 44, most = Math.max(1, ...values), step = width / Math.max(values.length, 1);
  return s("svg", { class: "chart", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label, preserveAspectRatio: "none" },
    s("line", { class: "axis", x1: 0, x2: width, y1: height - 0.5, y2: height - 0.5 }),
    values.map((value, at) => (value ? s("rect", { class: "area", x: at * step + step * 0.1, width: Math.max(step * 0.8, 0.8),
      y: height - (value / most) * (height - 2), height: (value / most) * (height - 2) }) : null)));
}

const W = 420, H = 260, L = 44, B = 36, T = 10, R = 10;
const x = (share) => L + share * (W - L - R);
const y = (share) => H - B - share * (H - B - T);

function frame(label, below, beside, ...drawn) {
  const ticks = [0, 0.25, 0.5, 0.75, 1];
  return s("svg", { class: "chart", viewBox: `0 0 ${W} ${H}`, role: "img", "aria-label": label },
    ticks.map((tick) => [
      s("line", { class: "axis", x1: L, x2: W - R, y1: y(tick), y2: y(tick) }),
      s("text", { x: L - 6, y: y(tick) + 4, "text-anchor": "end" }, `${tick * 100}`),
      s("text", { x: x(tick), y: H - B + 16, "text-anchor": "middle" }, `${tick * 100}`)]),
    s("text", { x: x(0.5), y: H - 4, "text-anchor": "middle" }, below),
    s("text", { x: 12, y: y(0.5), "text-anchor": "middle", transform: `rotate(-90 12 ${y(0.5)})` }, beside),
    drawn);
}

export function riskCoverage(curve, at) {
  const points = curve.map((each) => `${x(each.coverage)},${y(each.accuracy)}`).join(" ");
  const chosen = curve[at];
  return frame("Accuracy of the messages kept, against the share kept", "messages kept, %", "of these right, %",
    s("polyline", { class: "line", points }),
    chosen ? [s("line", { class: "dash", x1: x(chosen.coverage), x2: x(chosen.coverage), y1: y(0), y2: y(1) }),
      s("circle", { class: "dot", cx: x(chosen.coverage), cy: y(chosen.accuracy), r: 6 })] : null);
}

export function reliability(bins) {
  const most = Math.max(1, ...bins.map((each) => each.messages));
  return frame("How often events given with a probability are right", "probability given, %", "of these right, %",
    s("line", { class: "dash", x1: x(0), y1: y(0), x2: x(1), y2: y(1) }),
    s("polyline", { class: "line", points: bins.map((each) => `${x(each.probability)},${y(each.accuracy)}`).join(" ") }),
    bins.map((each) => s("circle", { class: "dot", cx: x(each.probability), cy: y(each.accuracy),
      r: 3 + 6 * Math.sqrt(each.messages / most) }, s("title", {}, `${each.messages} messages`))));
}

export function doubtAgainstError(events) {
  const most = Math.max(1, ...events.map((each) => each.messages));
  return frame("Mean doubt of each event against its share of errors", "mean doubt, %", "wrong, %",
    s("line", { class: "dash", x1: x(0), y1: y(0), x2: x(1), y2: y(1) }),
    events.map((each) => s("circle", { class: "dot", cx: x(each.doubt), cy: y(each.error), r: 3 + 8 * Math.sqrt(each.messages / most),
      "fill-opacity": 0.75 }, s("title", {}, `${each.event}: ${each.messages} messages`))));
}

export function histograms(before, now) {
  const width = 420, height = 140, step = width / before.length;
  const share = (values) => { const sum = values.reduce((a, b) => a + b, 0) || 1; return values.map((value) => value / sum); };
  const a = share(before), b = share(now), most = Math.max(0.01, ...a, ...b);
  return s("svg", { class: "chart", viewBox: `0 0 ${width} ${height + 18}`, role: "img", "aria-label": "Doubt in training and in the stream" },
    a.map((value, at) => s("rect", { class: "ghost", "fill-opacity": 0.4, x: at * step + 3, width: step / 2 - 4,
      y: height - (value / most) * (height - 6), height: (value / most) * (height - 6) })),
    b.map((value, at) => s("rect", { class: "area", x: at * step + step / 2, width: step / 2 - 4,
      y: height - (value / most) * (height - 6), height: (value / most) * (height - 6) })),
    a.map((_, at) => (at % 2 ? null : s("text", { x: at * step + 3, y: height + 14 }, `${at * 10} %`))));
}
