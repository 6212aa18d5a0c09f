// Trust: how right the model is, how well its doubt says so, and whether the stream has drifted.

import { ask, query } from "/page/api.js";
import { doubtAgainstError, histograms, reliability, riskCoverage } from "/page/charts.js";
import { bar, count, empty, failed, fill, h, loading, name, percent, toast, when } from "/page/dom.js";

const SOURCES = { "held-out": "held-out messages", validation: "validation messages", reviewed: "reviewed messages" };

export function trustScreen(root, { asked, setQuery }) {
  const stage = h("div", { class: "stack" }, loading());
  let source = asked.get("source") ?? "";
  let keep = Number(asked.get("keep") ?? 0.9);
  fill(root, h("div", { class: "head" }, h("div", {}, h("h1", {}, "Trust"),
    h("p", { class: "quiet small" }, "How far the model can be relied on, and from which doubt on a person should look."))), stage);

  function curves(found) {
    const picker = h("label", {}, "Measured on", h("select", { onchange: (e) => { source = e.target.value; setQuery({ source, keep }); load(); } },
      found.sources.map((each) => h("option", { value: each, selected: each === found.source }, SOURCES[each] ?? each))));
    if (!found.messages) {
      return [h("div", { class: "filters" }, picker), empty("Nothing to measure yet", "Review some messages, or start the service with --held-out FILE.")];
    }
    const told = h("p", { class: "figure", role: "status" });
    const where = h("p", { class: "small quiet" });
    const chart = h("div");
    const slider = h("input", { type: "range", min: 0, max: found.curve.length - 1, step: 1, "aria-label": "Share of messages kept" });
    const nearest = found.curve.reduce((best, each, at) => (Math.abs(each.coverage - keep) < Math.abs(found.curve[best].coverage - keep) ? at : best), 0);
    const show = () => {
      const point = found.curve[Number(slider.value)];
      told.textContent = `keep ${percent(point.coverage)}, ${percent(point.accuracy)} right`;
      const look = Math.round((1 - point.coverage) * found.messages);
      where.textContent = `doubt up to ${percent(point.threshold)}; ${count(look)} of ${count(found.messages)} messages to look at`;
      slider.setAttribute("aria-valuetext", told.textContent);
      fill(chart, riskCoverage(found.curve, Number(slider.value)));
      keep = point.coverage;
    };
    slider.value = nearest;
    slider.addEventListener("input", show);
    slider.addEventListener("change", () => setQuery({ source, keep: keep.toFixed(2) }));
    show();
    return [
      h("div", { class: "filters" }, picker, h("p", { class: "small quiet" }, found.note)),
      h("div", { class: "two" },
        h("section", { class: "card" }, h("h2", {}, "What can be kept unseen"), told, where, slider, chart),
        h("section", { class: "card" }, h("h2", {}, "Does probability mean what it says?"),
          h("p", { class: "small quiet" }, "On the dashed line, it does. Larger dots are more messages."), reliability(found.reliability))),
      h("div", { class: "two" },
        h("section", { class: "card" }, h("h2", {}, "Events: doubt and error"), h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Events, doubt and error" }, h("table", {},
          h("thead", {}, h("tr", {}, h("th", {}, "event"), h("th", { class: "num" }, "messages"), h("th", { class: "num" }, "doubt"), h("th", { class: "num" }, "wrong"))),
          h("tbody", {}, [...found.events].sort((a, b) => b.error - a.error).map((each) => h("tr", {}, h("td", {}, name(each.event)),
            h("td", { class: "num" }, count(each.messages)), h("td", { class: "num" }, percent(each.doubt)), h("td", { class: "num" }, percent(each.error)))))))),
        h("section", { class: "card" }, h("h2", {}, "Doubt against error"), h("p", { class: "small quiet" }, "Events above the line are worse than the model thinks."), doubtAgainstError(found.events))),
    ];
  }
  function drifted(found) {
    const index = (value) => (value === null ? "" : ` (index ${value.toFixed(2)})`);
    return h("div", { class: "two" },
      h("section", { class: "card" }, h("h2", {}, "Doubt in the stream"),
        h("p", {}, `${found.doubt.reading}${index(found.doubt.index)}`),
        h("p", { class: "small quiet" }, `mean ${percent(found.doubt.training_mean)} before, ${percent(found.doubt.stream_mean)} in the newest ${count(found.messages)} messages; pale: before, bold: stream`),
        histograms(found.doubt.training, found.doubt.stream)),
      h("section", { class: "card" }, h("h2", {}, "Events in the stream"),
        h("p", {}, `${found.events.reading}${index(found.events.index)}`),
        h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Shares of events" }, h("table", {},
          h("thead", {}, h("tr", {}, h("th", {}, "event"), h("th", { class: "num" }, "training"), h("th", { class: "num" }, "stream"))),
          h("tbody", {}, found.events.shares.map((each) => h("tr", {}, h("td", {}, name(each.event)),
            h("td", { class: "num" }, percent(each.training)), h("td", { class: "num" }, percent(each.stream)))))))));
  }
  function modelCard(model) {
    const act = async (path, said) => {
      try { await ask(path, { method: "POST" }); toast(said); setTimeout(load, 300); } catch (error) { toast(error.message); }
    };
    const last = model.learnings[0];
    const labels = ["accept", "relabel", "new-event"].reduce((sum, each) => sum + (model.reviews[each] ?? 0), 0);
    return h("section", { class: "card" },
      h("div", { class: "row spread" }, h("h2", {}, "Model"), h("span", { class: "tiny quiet" }, `version ${model.version}`)),
      h("p", { class: "small quiet" }, `${model.method}, ${model.encoder}; ${Object.keys(model.events).length} events, ${count(model.remembered)} messages remembered, ${count(model.stored)} in the store`),
      model.job.state === "running" ? h("p", { role: "status" }, "Learning from reviews …", bar(0.5, "running")) : null,
      model.job.state === "failed" ? h("p", { class: "small" }, `Learning failed: ${model.job.error}`) : null,
      last ? h("p", { class: "small" }, `Learned ${when(last.at)} from ${count(last.report.labels)} labels: ${count(last.report.right_after)} of ${count(last.report.reviewed)} reviewed messages as people said, ${count(last.report.right_before)} before; ${count(last.report.others_changed)} of ${count(last.report.others)} others changed`,
        last.report.new_events.length ? [". New: ", last.report.new_events.map((each, at) => [at ? ", " : "", name(each)])] : null) : null,
      h("div", { class: "row" },
        h("button", { class: "main", type: "button", disabled: !labels || model.job.state === "running", onclick: () => act("/v1/model/learn", "Learning has begun.") }, `Learn from ${count(labels)} labels`),
        last && last.model === model.version ? h("button", { type: "button", onclick: () => act("/v1/model/restore", "The model before is back.") }, "Bring the old model back") : null,
        h("button", { type: "button", onclick: () => act("/v1/model/reload", "Read again.") }, "Reload"),
        h("a", { class: "button", href: "/v1/export?what=labels", download: "" }, "Download labels")));
  }
  async function load() {
    try {
      const [found, drift, model] = await Promise.all([ask(`/v1/trust${query({ source })}`), ask("/v1/drift"), ask("/v1/model")]);
      fill(stage, curves(found), h("h2", {}, "Drift"), drifted(drift), modelCard(model));
    } catch (error) { fill(stage, failed(error, load)); }
  }
  load();
  return { told(kind) { if (kind === "model" || kind === "learning") load(); } };
}
