"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const [first, last] = data.steps;
  const root = getComputedStyle(document.documentElement);
  const colour = (name) => root.getPropertyValue(name).trim();
  const rangeText = document.getElementById("range");
  const frames = new Map();
  let range = [first, last];
  let looked = null;
  // Where the page is shown in place of another one, what listened for the other is let go.
  window.drawn?.abort();
  const { signal } = (window.drawn = new AbortController());

  const short = (x) => {
    if (x === null || x === undefined) return "";
    const size = Math.abs(x);
    if (size >= 1e6 && size < 1e10) return `${Number((x / 1e6).toPrecision(3))}M`;
    if (x !== 0 && (size < 1e-3 || size >= 1e6)) return x.toExponential(1);
    if (size >= 1e3 && x % 1000 === 0) return `${x / 1000}k`;
    return size >= 1000 ? x.toFixed(0) : String(Number(x.toPrecision(3)));
  };

  // What is drawn over a curve: evidence, onset intervals, the best checkpoint.
  const rule = (u, step, style, dash) => {
    const x = Math.round(u.valToPos(step, "x", true));
    const ctx = u.ctx;
    ctx.strokeStyle = style;
    ctx.setLineDash(dash);
    ctx.beginPath();
    ctx.moveTo(x, u.bbox.top);
    ctx.lineTo(x, u.bbox.top + u.bbox.height);
    ctx.stroke();
  };
  const band = (u, low, high, style) => {
    const a = u.valToPos(low, "x", true);
    const b = u.valToPos(high, "x", true);
    u.ctx.fillStyle = style;
    u.ctx.fillRect(a - 1, u.bbox.top, Math.max(b - a, 1) + 2, u.bbox.height);
  };
  const clipped = (u, draw) => {
    const ctx = u.ctx;
    const { left, top, width, height } = u.bbox;
    ctx.save();
    ctx.beginPath();
    ctx.rect(left, top, width, height);
    ctx.clip();
    ctx.lineWidth = 1.5 * devicePixelRatio;
    draw();
    ctx.restore();
  };
  // Where nine of ten points of sound runs of others lie.
  const usual = (u, [low, high], log) => {
    const bottom = u.bbox.top + u.bbox.height;
    const from = log && low <= 0 ? bottom : u.valToPos(low, "y", true);
    const to = log && high <= 0 ? bottom : u.valToPos(high, "y", true);
    u.ctx.fillStyle = colour("--usual");
    u.ctx.fillRect(u.bbox.left, to, u.bbox.width, Math.max(from - to, 2));
  };
  const below = (curve) => (u) => clipped(u, () => {
    if (curve.usual) usual(u, curve.usual, curve.log);
    points(u, curve);
    if (looked && looked.key === curve.key) band(u, looked.first, looked.last, colour("--look"));
    if (data.onset) band(u, data.onset[1], data.onset[2], colour("--first"));
    for (const [, low, high] of curve.onsets) band(u, low, high, colour("--onset-soft"));
  });
  // Logged points under the line of medians.
  const points = (u, curve) => clipped(u, () => {
    u.ctx.fillStyle = colour("--muted");
    u.ctx.globalAlpha = 0.35;
    const size = 2 * devicePixelRatio;
    for (const [x, y] of curve.raw) u.ctx.fillRect(u.valToPos(x, "x", true) - size / 2, u.valToPos(y, "y", true) - size / 2, size, size);
  });
  const above = (curve) => (u) => clipped(u, () => {
    const dots = 3 * devicePixelRatio;
    if (data.onset) rule(u, data.onset[0], colour("--onset"), [dots / 3, dots / 2]);
    for (const [step] of curve.onsets) rule(u, step, colour("--onset"), []);
    if (data.best !== null) rule(u, data.best, colour("--best"), [2 * dots, dots]);
  });

  const options = (curve, width) => ({
    width,
    height: 205,
    legend: { show: false },
    cursor: {
      sync: { key: "run", scales: ["x", null] },
      drag: { x: true, y: false, setScale: false },
      y: false,
      focus: { prox: -1 },
      bind: { dblclick: () => () => zoom(first, last) },
    },
    scales: {
      x: { time: false, range: () => range },
      y: curve.log ? { distr: 3, clamp: (u, v, low) => low } : { range: (u, low, high) => padded(low, high, curve.unit) },
    },
    axes: [
      { stroke: colour("--muted"), grid: { stroke: colour("--grid"), width: 1 }, ticks: { show: false }, size: 28, font: "12px system-ui",
        label: data.unit, labelSize: 18, labelFont: "12px system-ui", labelGap: 0,
        values: (u, ticks) => ticks.map(short),
      },
      {
        label: curve.unit || undefined, labelSize: 18, labelFont: "12px system-ui",
        stroke: colour("--muted"), grid: { stroke: colour("--grid"), width: 1 }, ticks: { show: false }, size: 58, font: "12px system-ui",
        values: (u, ticks) => ticks.map((t) => (t === null ? "" : curve.unit === "share" ? `${short(100 * t)} %` : short(t))),
      },
    ],
    series: [
      {},
      { stroke: colour("--line"), width: 1.75, points: { show: curve.dots, size: 5, fill: colour("--line") } },
      { stroke: "transparent", width: 0, points: { show: false } },
      { stroke: "transparent", width: 0, points: { show: false } },
    ],
    bands: [{ series: [3, 2], fill: colour("--band") }],
    hooks: {
      drawClear: [below(curve)],
      draw: [above(curve)],
      setSelect: [(u) => {
        if (u.select.width < 6) return;
        const a = u.posToVal(u.select.left, "x");
        const b = u.posToVal(u.select.left + u.select.width, "x");
        u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
        zoom(a, b);
      }],
      setCursor: [(u) => tell(curve, u.cursor.idx)],
    },
  });

  const padded = (low, high, unit) => {
    if (low === null || high === null) return [0, 1];
    if (unit === "share" && low >= 0 && high <= 1 && high - low < 0.02) return [0, 1];
    const room = (high - low) * 0.06 || Math.abs(high) * 0.1 || 0.5;
    return [low >= 0 ? Math.max(low - room, high > low ? -room / 3 : 0) : low - room, high + room];
  };

  const tell = (curve, i) => {
    const frame = frames.get(curve.key);
    if (!frame) return;
    const there = i !== null && i !== undefined && curve.x[i] !== undefined;
    const spread = there && curve.high[i] > curve.low[i] ? ` (${short(curve.low[i])} to ${short(curve.high[i])})` : "";
    frame.readout.textContent = there ? `step ${Math.round(curve.x[i])}: ${short(curve.y[i])}${spread}` : "\u00a0";
  };

  // One zoom for all curves.
  const zoom = (a, b) => {
    const least = Math.min(4, last - first);
    let width = Math.min(Math.max(b - a, least), last - first);
    let start = Math.min(Math.max(a, first), last - width);
    range = [start, start + width];
    for (const { plot } of frames.values()) plot.setScale("x", { min: range[0], max: range[1] });
    const whole = width >= last - first;
    rangeText.textContent = whole ? "whole run" : `steps ${Math.round(range[0])} to ${Math.round(range[1])}`;
    document.body.dataset.zoom = whole ? "" : range.map(Math.round).join("-");
  };
  const moves = {
    in: () => around(0.5),
    out: () => around(2),
    left: () => zoom(range[0] - (range[1] - range[0]) / 4, range[1] - (range[1] - range[0]) / 4),
    right: () => zoom(range[0] + (range[1] - range[0]) / 4, range[1] + (range[1] - range[0]) / 4),
    all: () => zoom(first, last),
  };
  const around = (factor) => {
    const middle = (range[0] + range[1]) / 2;
    const half = ((range[1] - range[0]) * factor) / 2;
    zoom(middle - half, middle + half);
  };

  const walk = (curve, by) => {
    const { plot } = frames.get(curve.key);
    const inside = curve.x.map((x, i) => i).filter((i) => curve.x[i] >= range[0] && curve.x[i] <= range[1]);
    if (!inside.length) return;
    const now = inside.indexOf(plot.cursor.idx);
    const next = now < 0 ? (by > 0 ? 0 : inside.length - 1) : Math.min(Math.max(now + by, 0), inside.length - 1);
    const left = plot.valToPos(curve.x[inside[next]], "x");
    plot.setCursor({ left, top: plot.over.clientHeight / 2 }, true, true);
  };
  const keys = (curve) => (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const act = {
      ArrowLeft: () => (event.shiftKey ? moves.left() : walk(curve, -1)),
      ArrowRight: () => (event.shiftKey ? moves.right() : walk(curve, 1)),
      Home: () => walk(curve, -Infinity),
      End: () => walk(curve, Infinity),
      "+": moves.in, "=": moves.in, "-": moves.out, "0": moves.all, Escape: moves.all,
    }[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  };

  const build = () => {
    for (const curve of data.curves) {
      const figure = document.getElementById(curve.key);
      const box = figure.querySelector(".plot");
      frames.get(curve.key)?.plot.destroy();
      const plot = new uPlot(options(curve, box.clientWidth), [curve.x, curve.y, curve.low, curve.high], box);
      frames.set(curve.key, { plot, box, figure, readout: figure.querySelector(".readout") });
    }
  };

  // From a finding to the curve or the samples it rests on.
  const look = (link) => {
    const key = link.getAttribute("href").slice(1);
    const target = document.getElementById(key);
    if (!target) return;
    for (let fold = target.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
    looked = { key, first: Number(link.dataset.first), last: Number(link.dataset.last) };
    if (looked.last < range[0] || looked.first > range[1]) moves.all();
    for (const lit of document.querySelectorAll(".lit")) lit.classList.remove("lit");
    target.classList.add("lit");
    for (const { plot } of frames.values()) plot.redraw(false, false);
    target.scrollIntoView({ block: "center" });
    (target.querySelector(".plot") ?? target).focus({ preventScroll: true });
  };

  document.addEventListener("click", (event) => {
    const link = event.target.closest("a.evidence");
    if (link) {
      event.preventDefault();
      if (origin !== "null") history.replaceState(null, "", link.getAttribute("href"));
      look(link);
      return;
    }
    const button = event.target.closest("button[data-do]");
    if (button) moves[button.dataset.do]();
  }, { signal });

  build();
  if (rangeText) zoom(first, last);
  for (const curve of data.curves) {
    const { box, readout } = frames.get(curve.key);
    box.addEventListener("keydown", keys(curve));
    box.addEventListener("focus", () => readout.setAttribute("aria-live", "polite"));
    box.addEventListener("blur", () => readout.setAttribute("aria-live", "off"));
  }
  const fit = () => {
    for (const { plot, box } of frames.values()) if (box.clientWidth && box.clientWidth !== plot.width) plot.setSize({ width: box.clientWidth, height: 205 });
  };
  new ResizeObserver(fit).observe(document.body);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", build, { signal });
  // Paper has no folds: what is folded is opened for printing and folded again, but for the long lists.
  let folded = [];
  addEventListener("beforeprint", () => {
    folded = [...document.querySelectorAll("details.fold:not(.bulk, .bulk *, [open])")];
    for (const fold of folded) fold.open = true;
    document.documentElement.classList.add("printing");
    build();
  }, { signal });
  addEventListener("afterprint", () => {
    for (const fold of folded) fold.open = false;
    document.documentElement.classList.remove("printing");
    build();
  }, { signal });
})();
