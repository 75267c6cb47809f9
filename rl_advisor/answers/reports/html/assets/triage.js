"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const cols = data.columns, total = cols.run.length, KINDS = data.kinds, ROW = 44, TILE = 112, TILE_WIDE = 210, SVG = "http://www.w3.org/2000/svg";
  const box = document.querySelector(".rows"), space = box.querySelector(".space"), detail = document.querySelector(".detail");
  const find = document.getElementById("find"), view = document.getElementById("view"), shown = document.querySelector(".shown");
  const lower = cols.run.map((run, i) => `${run} ${cols.why[i]} ${KINDS[cols.kind[i]]} ${cols.verdict[i]} ${cols.framework[i] || ""}`.toLowerCase());
  let order = Array.from({ length: total }, (_, i) => i), chosen = order, only = -1, sorted = null, down = false, open = -1, first = -1, last = -1;

  const made = (tag, cls, text) => { const e = document.createElement(tag); if (cls) e.className = cls; if (text !== undefined) e.textContent = text; return e; };
  const age = (s) => s === null ? "" : s >= 86400 ? `${Math.round(s / 86400)} d` : s >= 3600 ? `${Math.round(s / 3600)} h` : `${Math.round(s / 60)} min`;
  const hours = (h) => h === null ? "" : h >= 10 ? String(Math.round(h)) : h.toFixed(1);

  function curve(i, high) {
    const line = cols.curve[i], svg = document.createElementNS(SVG, "svg");
    svg.setAttribute("viewBox", `0 0 100 ${high}`); svg.setAttribute("preserveAspectRatio", "none"); svg.setAttribute("aria-hidden", "true");
    if (line.length > 1) {
      const path = document.createElementNS(SVG, "path");
      path.setAttribute("d", "M" + Array.from(line, (c, n) => `${(100 * n / (line.length - 1)).toFixed(1)} ${(high * (1 - parseInt(c, 36) / 35)).toFixed(1)}`).join("L"));
      svg.append(path);
    }
    if (cols.broke[i] !== null) {
      const mark = document.createElementNS(SVG, "path");
      mark.setAttribute("class", "brk"); mark.setAttribute("d", `M${cols.broke[i]} 0V${high}`); svg.append(mark);
    }
    return svg;
  }

  function row(place, i) {
    const e = made("div", `row${i === open ? " on" : ""}`), kind = KINDS[cols.kind[i]];
    e.style.top = `${place * ROW}px`; e.tabIndex = 0; e.setAttribute("role", "row"); e.setAttribute("aria-rowindex", place + 2); e.dataset.i = i;
    const cell = (text, cls) => { const c = made("div", `cell ${cls || ""}`, text); c.setAttribute("role", "cell"); e.append(c); return c; };
    cell(cols.run[i]).title = cols.run[i];
    cell("").append(curve(i, 30));
    cell(cols.verdict[i] + (cols.p[i] === null ? "" : ` ${cols.p[i]} %`), kind);
    cell(cols.call[i]); cell(cols.error[i] || cols.why[i], "why"); cell(cols.best_checkpoint[i], "num");
    cell(cols.step[i] === null ? "" : `${cols.step[i]}${cols.planned_steps[i] ? ` / ${cols.planned_steps[i]}` : ""}`, "num"); cell(age(cols.age_s[i]), "num"); cell(hours(cols.saves_gpu_hours[i]), "num");
    return e;
  }

  function tile(place, i, across) {
    const e = made("div", "tile"), kind = KINDS[cols.kind[i]], wide = space.clientWidth / across;
    e.style.top = `${Math.floor(place / across) * TILE}px`; e.style.left = `${(place % across) * wide}px`; e.style.width = `${wide}px`;
    e.tabIndex = 0; e.dataset.i = i; e.title = cols.run[i];
    e.append(made("div", kind, cols.run[i].slice(-32)), made("div", "cell", `${cols.verdict[i]}, ${cols.call[i]}`), curve(i, 56));
    return e;
  }

  function draw(again) {
    const tiles = view.value === "tiles", across = tiles ? Math.max(1, Math.floor(space.clientWidth / TILE_WIDE)) : 1, high = tiles ? TILE : ROW;
    box.classList.toggle("tiles", tiles);
    space.style.height = `${Math.ceil(chosen.length / across) * high}px`;
    const from = Math.max(0, (Math.floor(box.scrollTop / high) - 4) * across), to = Math.min(chosen.length, (Math.ceil((box.scrollTop + box.clientHeight) / high) + 4) * across);
    if (!again && from === first && to === last) return;
    first = from; last = to;
    const held = document.activeElement && document.activeElement.dataset ? document.activeElement.dataset.i : undefined;
    space.replaceChildren(...chosen.slice(from, to).map((i, n) => tiles ? tile(from + n, i, across) : row(from + n, i)));
    if (held !== undefined) { const back = space.querySelector(`[data-i="${held}"]`); if (back) back.focus({ preventScroll: true }); }
  }

  function choose() {
    const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
    chosen = order.filter((i) => (only < 0 || cols.kind[i] === only) && words.every((w) => lower[i].includes(w)));
    shown.textContent = chosen.length === total ? `${total} runs` : `${chosen.length} of ${total} runs`;
    box.setAttribute("aria-rowcount", chosen.length + 1); box.scrollTop = 0; draw(true);
  }

  function sort(name) {
    down = sorted === name ? !down : false; sorted = name;
    const by = cols[name], sign = down ? -1 : 1;
    order = Array.from({ length: total }, (_, i) => i);
    order.sort((a, b) => {
      const x = by[a], y = by[b];
      if (x === null || y === null) return x === y ? a - b : x === null ? 1 : -1;  // what is not known stands last, whatever the direction
      return (x < y ? -1 : x > y ? 1 : 0) * sign || a - b;
    });
    for (const head of box.querySelectorAll("[data-by]")) head.setAttribute("aria-sort", head.dataset.by === name ? (down ? "descending" : "ascending") : "none");
    choose();
  }

  function show(i) {
    open = i; detail.replaceChildren(); draw(true);
    const list = made("dl"), put = (name, text) => { if (text !== "" && text !== null && text !== undefined) list.append(made("dt", "", name), made("dd", "", String(text))); };
    detail.append(made("h3", "", cols.run[i]));
    put("Verdict", `${cols.verdict[i]}${cols.p[i] === null ? "" : ` (${cols.p[i]} %)`}, ${cols.call[i]}`);
    put("What broke first", cols.why[i]); put("Do now", cols.do[i]); put("Keep", cols.best_checkpoint[i]); put("Could not be judged", cols.error[i]);
    put("GPU hours after the break", hours(cols.burnt[i])); put("Stopping saves GPU hours", hours(cols.saves_gpu_hours[i])); put("Framework", cols.framework[i]);
    put("Outcome", cols.low[i] === null ? "" : `${cols.outcome[i]}: ${cols.low[i]} to ${cols.high[i]}`); put("See it", `rl-advisor assess '${cols.where[i]}'`);
    detail.append(list);
    if (cols.report[i]) { const a = made("a", "", "Open its report"); a.href = cols.report[i]; detail.append(a); }
    detail.scrollIntoView({ block: "nearest" });
  }

  box.addEventListener("scroll", () => requestAnimationFrame(() => draw(false)), { passive: true });
  addEventListener("resize", () => draw(true));
  space.addEventListener("click", (e) => { const r = e.target.closest("[data-i]"); if (r) show(+r.dataset.i); });
  space.addEventListener("keydown", (e) => {
    const r = e.target.closest("[data-i]");
    if (r && (e.key === "Enter" || e.key === " ")) { e.preventDefault(); show(+r.dataset.i); }
    if (r && e.key === "ArrowDown" && r.nextElementSibling) { e.preventDefault(); r.nextElementSibling.focus(); }
    if (r && e.key === "ArrowUp" && r.previousElementSibling) { e.preventDefault(); r.previousElementSibling.focus(); }
  });
  find.addEventListener("input", choose); view.addEventListener("change", choose);
  for (const head of box.querySelectorAll("[data-by] button")) head.addEventListener("click", () => sort(head.parentElement.dataset.by));
  for (const b of document.querySelectorAll(".counts button")) b.addEventListener("click", () => {
    only = only === +b.dataset.kind ? -1 : +b.dataset.kind;
    for (const other of document.querySelectorAll(".counts button")) other.setAttribute("aria-pressed", String(+other.dataset.kind === only));
    choose();
  });
  choose();
  document.documentElement.dataset.ready = "1";
})();

// Paper shows every row as a plain table, which a browser with scripts does not build before it is asked for.
addEventListener("beforeprint", () => {
  const plain = document.querySelector("section noscript");
  if (!plain || document.querySelector("div > .paper")) return;
  const sheet = document.createElement("div");
  sheet.innerHTML = plain.textContent;
  plain.after(sheet);
});
