"use strict";
/* Draws the charts of a page from the JSON inside it. All text reaches the page as text nodes. */
(function () {
  const charts = JSON.parse(document.getElementById("chart-data").textContent);
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const calm = window.matchMedia("(prefers-reduced-motion: reduce)");
  /* Okabe and Ito, "Color Universal Design"; shapes tell apart what shares a colour. */
  const COLOURS = {
    light: ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#6b5b95", "#444444"],
    dark: ["#56b4e9", "#f0884a", "#3ccf9f", "#e6a3c6", "#f0c04a", "#9ad7ff", "#b3aaff", "#cfcfcf"],
  };
  const SHAPES = ["circle", "triangle", "rect", "diamond", "arrow", "roundRect"];
  const drawn = new Map();
  let printing = false;

  function theme() {
    const night = dark.matches && !printing;
    const style = getComputedStyle(document.documentElement);
    const value = (name) => style.getPropertyValue(name).trim();
    if (printing) {
      return { night: false, ink: "#000", soft: "#444", line: "#bbb", paper: "#fff",
        accent: "#3a309a", card: "#f4f4f7", colours: COLOURS.light };
    }
    return { night, ink: value("--ink"), soft: value("--soft"), line: value("--line"),
      paper: value("--paper"), accent: value("--accent"), card: value("--card"),
      colours: night ? COLOURS.dark : COLOURS.light };
  }

  /* A tooltip is made of elements, so that no text in it is ever read as markup. */
  function tip(lines) {
    const box = document.createElement("div");
    box.className = "tip";
    lines.filter((line) => line !== null && line !== undefined && line !== "").forEach((line, k) => {
      const part = document.createElement(k ? "div" : "b");
      part.dir = "auto";
      part.textContent = String(line);
      box.append(part);
    });
    return box;
  }

  const count = (n) => Number(n).toLocaleString("en");
  const percent = (x) => (100 * x).toFixed(1) + " %";
  const cut = (text, most) => (text.length > most ? text.slice(0, most - 1) + "…" : text);

  function base(t, formatter) {
    return {
      animation: !calm.matches && !printing,
      animationDuration: 300,
      backgroundColor: "transparent",
      textStyle: { color: t.soft, fontFamily: getComputedStyle(document.body).fontFamily },
      color: t.colours,
      aria: { enabled: false },
      tooltip: { confine: true, backgroundColor: t.paper, borderColor: t.line,
        textStyle: { color: t.ink, fontSize: 13 }, formatter },
    };
  }

  function axis(t, more) {
    return Object.assign({
      axisLine: { lineStyle: { color: t.line } }, axisTick: { show: false },
      axisLabel: { color: t.soft, fontSize: 12 }, nameTextStyle: { color: t.soft, fontSize: 12 },
      splitLine: { lineStyle: { color: t.line, opacity: 0.6 } },
      nameLocation: "middle",
    }, more);
  }

  function mixed(t, share) {
    /* From the paper's colour to the accent's: one hue, light to dark. */
    const read = (hex) => {
      const full = hex.length === 4 ? hex.replace(/[^#]/g, "$&$&") : hex;
      return [1, 3, 5].map((k) => parseInt(full.slice(k, k + 2), 16));
    };
    const from = read(t.card), to = read(t.accent);
    return "rgb(" + from.map((v, k) => Math.round(v + (to[k] - v) * share)).join(",") + ")";
  }

  const KINDS = {
    stacked(chart, t, width) {
      const narrow = width < 520;
      const series = chart.series.map((each, k) => ({
        type: "bar", stack: "all", name: each.name, data: each.values, barCategoryGap: "8%",
        itemStyle: { color: each.rest ? t.soft : t.colours[k % t.colours.length] },
        emphasis: { focus: "series" },
      }));
      return Object.assign(base(t, (items) => tip([items[0].axisValueLabel].concat(
        items.filter((i) => i.value).sort((a, b) => b.value - a.value).slice(0, 8)
          .map((i) => i.seriesName + ": " + count(i.value))))), {
        aria: { enabled: true, label: { enabled: false }, decal: { show: true } },
        legend: { type: "scroll", bottom: 0, textStyle: { color: t.soft, fontSize: 12 },
          pageTextStyle: { color: t.soft }, pageIconColor: t.accent, pageIconInactiveColor: t.line,
          formatter: (name) => cut(name, narrow ? 22 : 34), itemWidth: 16, itemHeight: 12 },
        grid: { left: 8, right: 8, top: 16, bottom: 44, containLabel: true },
        xAxis: axis(t, { type: "category", data: chart.labels }),
        yAxis: axis(t, { type: "value", minInterval: 1 }),
        series,
      }, { tooltip: Object.assign(base(t).tooltip, { trigger: "axis",
        axisPointer: { type: "shadow" }, formatter: (items) => tip([items[0].axisValueLabel].concat(
          items.filter((i) => i.value).sort((a, b) => b.value - a.value).slice(0, 8)
            .map((i) => i.seriesName + ": " + count(i.value)))) }) });
    },

    heat(chart, t, width) {
      const room = Math.max(width, 200), narrow = room < 520;
      const data = chart.cells.map((cell) => ({
        value: [cell[0], cell[1], cell[2]],
        itemStyle: { color: mixed(t, 0.08 + 0.92 * cell[2]), borderColor: t.paper, borderWidth: 1 },
        label: { color: cell[2] > 0.45 ? t.paper : t.ink },
        lines: cell[4], text: cell[3],
      }));
      const cellWidth = (room - (narrow ? 90 : 170)) / Math.max(chart.x.length, 1);
      const written = chart.written && cellWidth > (chart.wide ? 40 : 26);
      return Object.assign(base(t, (item) => tip(item.data.lines)), {
        grid: { left: 8, right: 8, top: 8, bottom: chart.xname ? 32 : 8, containLabel: true },
        xAxis: axis(t, { type: "category", data: chart.x, name: chart.xname || "", nameGap: 0,
          nameLocation: "middle", splitLine: { show: false }, position: chart.top ? "top" : "bottom",
          axisLabel: { color: t.soft, fontSize: 11, rotate: chart.rotate || 0,
            formatter: (name) => cut(name, narrow ? 12 : 22),
            interval: chart.every ? 0 : "auto", hideOverlap: !chart.every } }),
        yAxis: axis(t, { type: "category", data: chart.y, inverse: true, splitLine: { show: false },
          axisLabel: { color: t.soft, fontSize: 11, interval: 0,
            formatter: (name) => cut(name, narrow ? 14 : 26) } }),
        series: [{ type: "heatmap", data,
          label: { show: Boolean(written), fontSize: 11, formatter: (item) => item.data.text },
          emphasis: { itemStyle: { borderColor: t.ink, borderWidth: 2 } } }],
      });
    },

    reliability(chart, t) {
      return Object.assign(base(t, (item) => tip(item.data.lines || [item.seriesName])), {
        grid: { left: 28, right: 16, top: 16, bottom: 32, containLabel: true },
        xAxis: axis(t, { type: "value", min: 0, max: 1, name: chart.xname, nameGap: 28,
          axisLabel: { color: t.soft, formatter: (v) => Math.round(100 * v) + " %" } }),
        yAxis: axis(t, { type: "value", min: 0, max: 1, name: chart.yname, nameGap: 44,
          axisLabel: { color: t.soft, formatter: (v) => Math.round(100 * v) + " %" } }),
        series: [
          { type: "line", data: [[0, 0], [1, 1]], symbol: "none", silent: true,
            lineStyle: { color: t.soft, type: "dashed", width: 1 } },
          { type: "line", name: "this model", symbol: "circle", lineStyle: { color: t.accent, width: 2 },
            itemStyle: { color: t.accent },
            data: chart.points.map((p) => ({ value: [p[0], p[1]], lines: p[3],
              symbolSize: 6 + 16 * Math.sqrt(p[2]) })) },
        ],
      });
    },

    curve(chart, t) {
      const marks = chart.marks.map((m) => ({ value: [m[0], m[1]], lines: m[2],
        symbol: "diamond", symbolSize: 15 }));
      return Object.assign(base(t, (item) => tip(item.data.lines || [])), {
        grid: { left: 28, right: 16, top: 16, bottom: 32, containLabel: true },
        xAxis: axis(t, { type: "value", min: 0, max: 1, name: chart.xname, nameGap: 28,
          axisLabel: { color: t.soft, formatter: (v) => Math.round(100 * v) + " %" } }),
        yAxis: axis(t, { type: "value", min: 0, name: chart.yname, nameGap: 48,
          axisLabel: { color: t.soft, formatter: (v) => +(100 * v).toFixed(1) + " %" } }),
        series: [
          { type: "line", symbolSize: 6, showSymbol: chart.points.length < 60,
            lineStyle: { color: t.accent, width: 2 }, itemStyle: { color: t.accent },
            areaStyle: { color: t.accent, opacity: 0.08 },
            data: chart.points.map((p) => ({ value: [p[0], p[1]], lines: p[2] })) },
          { type: "scatter", data: marks, z: 5,
            itemStyle: { color: t.colours[1], borderColor: t.paper, borderWidth: 1 } },
        ],
      });
    },

    map(chart, t, width) {
      const narrow = width < 520;
      const series = chart.events.map((name, k) => ({
        type: "scatter", name, symbol: SHAPES[Math.floor(k / t.colours.length) % SHAPES.length],
        symbolSize: narrow ? 6 : 8,
        itemStyle: { color: t.colours[k % t.colours.length], opacity: 0.8 },
        emphasis: { focus: "series", itemStyle: { borderColor: t.ink, borderWidth: 1 } },
        data: chart.points.filter((p) => p[2] === k).map((p) => ({ value: [p[0], p[1]], point: p })),
      }));
      const wrong = chart.points.filter((p) => p[5]);
      if (wrong.length) {
        series.push({ type: "scatter", name: chart.wrong, silent: true, symbol: "circle",
          symbolSize: 14, itemStyle: { color: "transparent", borderColor: t.ink, borderWidth: 1.5 },
          data: wrong.map((p) => [p[0], p[1]]) });
      }
      return Object.assign(base(t, (item) => {
        const p = item.data.point;
        return p ? tip([item.seriesName, p[5], "doubt " + p[3].toFixed(2), p[4]]) : null;
      }), {
        legend: { type: "scroll", bottom: 0, textStyle: { color: t.soft, fontSize: 12 },
          pageTextStyle: { color: t.soft }, pageIconColor: t.accent, pageIconInactiveColor: t.line,
          formatter: (name) => cut(name, narrow ? 22 : 34) },
        grid: { left: 8, right: 8, top: 8, bottom: 44 },
        xAxis: { type: "value", show: false, scale: true },
        yAxis: { type: "value", show: false, scale: true },
        series,
      });
    },

    intervals(chart, t, width) {
      const narrow = width < 520;
      const between = { type: "custom", z: 3, data: chart.rows.map((r, k) => ({
        value: [r[1], k, r[2]], lines: r[4] })), encode: { x: [0, 2], y: 1 },
        renderItem: (_, api) => {
          const a = api.coord([api.value(0), api.value(1)]), b = api.coord([api.value(2), api.value(1)]);
          return { type: "line", shape: { x1: a[0], y1: a[1], x2: b[0], y2: b[1] },
            style: { stroke: t.accent, lineWidth: 2 } };
        } };
      return Object.assign(base(t, (item) => tip(item.data.lines)), {
        grid: { left: 8, right: 24, top: 8, bottom: 32, containLabel: true },
        xAxis: axis(t, { type: "value", scale: true, name: chart.xname, nameGap: 28 }),
        yAxis: axis(t, { type: "category", inverse: true, data: chart.rows.map((r) => r[0]),
          axisLabel: { color: t.soft, interval: 0, fontSize: 12,
            formatter: (name) => cut(name, narrow ? 16 : 30) } }),
        series: [between, { type: "scatter", symbolSize: 9, z: 4, itemStyle: { color: t.accent },
          data: chart.rows.map((r, k) => ({ value: [r[3], k], lines: r[4] })),
          markLine: chart.line === null || chart.line === undefined ? undefined : {
            silent: true, symbol: "none", label: { show: false },
            lineStyle: { color: t.soft, type: "dashed" }, data: [{ xAxis: chart.line }] } }],
      });
    },

    bars(chart, t, width) {
      const narrow = width < 520, many = chart.series.length > 1;
      const format = chart.percent ? (v) => Math.round(100 * v) + " %" : (v) => count(v);
      return Object.assign(base(t, (item) => tip([item.name, item.seriesName + ": " +
        (chart.percent ? percent(item.value) : count(item.value))])), {
        aria: { enabled: true, label: { enabled: false }, decal: { show: many } },
        legend: many ? { type: "scroll", bottom: 0, textStyle: { color: t.soft, fontSize: 12 },
          pageTextStyle: { color: t.soft }, pageIconColor: t.accent } : undefined,
        grid: { left: 8, right: 24, top: 8, bottom: many ? 44 : 8, containLabel: true },
        xAxis: axis(t, { type: chart.log ? "log" : "value", max: chart.percent ? 1 : null,
          axisLabel: { color: t.soft, formatter: format } }),
        yAxis: axis(t, { type: "category", inverse: true, data: chart.labels, splitLine: { show: false },
          axisLabel: { color: t.soft, interval: 0, fontSize: 12,
            formatter: (name) => cut(name, narrow ? 16 : 30) } }),
        series: chart.series.map((each, k) => ({ type: "bar", name: each.name, data: each.values,
          itemStyle: { color: many ? t.colours[k % t.colours.length] : t.accent } })),
      });
    },
  };

  function draw(place) {
    const chart = charts[place.dataset.chart];
    const old = drawn.get(place);
    if (old) { old.dispose(); }
    const t = theme();
    const width = printing ? 660 : place.clientWidth;
    const kept = place.getAttribute("aria-label");
    const made = window.echarts.init(place, null, { renderer: "svg", width });
    made.setOption(KINDS[chart.kind](chart, t, width));
    place.setAttribute("aria-label", kept);
    place.setAttribute("role", "img");
    drawn.set(place, made);
  }

  const places = Array.from(document.querySelectorAll("[data-chart]"));
  const drawAll = () => places.forEach(draw);
  drawAll();
  dark.addEventListener("change", drawAll);
  let wait = 0, seen = window.innerWidth;
  window.addEventListener("resize", () => {
    if (printing || window.innerWidth === seen) { return; }
    seen = window.innerWidth;
    clearTimeout(wait);
    wait = setTimeout(drawAll, 150);
  });
  window.addEventListener("beforeprint", () => {
    printing = true;
    drawAll();
    document.querySelectorAll("table.stacks details").forEach((each) => { each.open = true; });
  });
  window.addEventListener("afterprint", () => { printing = false; drawAll(); });

  /* Tables that can be sorted by a column. */
  document.querySelectorAll("table[data-sortable]").forEach((table) => {
    const body = table.tBodies[0];
    const heads = Array.from(table.tHead.rows[0].cells);
    heads.forEach((head, column) => {
      const button = head.querySelector("button");
      if (!button) { return; }
      button.addEventListener("click", () => {
        const down = head.getAttribute("aria-sort") !== "descending";
        heads.forEach((each) => each.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        const key = (row) => row.cells[column].dataset.value;
        const rows = Array.from(body.rows).sort((a, b) => {
          const x = key(a), y = key(b), n = Number(x) - Number(y);
          const order = Number.isNaN(n) ? String(x).localeCompare(String(y)) : n;
          return down ? -order : order;
        });
        body.append(...rows);
      });
    });
  });
})();
