// Pictures of a room: drawn, with the curve before in grey, a pinned one, and a table behind each.
const TALL = 400;  // pixels: beside it there is room for two pictures
const FEW = 140;  // pixels of an axis that have no room for four numbers
const LEGEND = 160;  // pixels; beyond it names of colours scroll
const GHOST = "#9AA3AD", PINNED = "#CC79A7", DRAWN = "#D55E00";

// Curves of another answer that lie on this picture's axes; bars leave a line at their ends.
function ghostsOf(picture, other, color, name) {
  if (!other || other.layout.xaxis?.title?.text !== picture.layout.xaxis?.title?.text
      || other.layout.yaxis?.title?.text !== picture.layout.yaxis?.title?.text
      || picture.layout.barmode || picture.layout.meta?.moves) return [];
  const made = [];
  for (const trace of other.data) {
    if (trace.type === "bar" && trace.orientation === "h") {
      made.push({type: "scatter", mode: "markers", x: trace.x, y: trace.y, name, showlegend: false, marker: {symbol: "line-ns", size: 26, line: {width: 3, color}}, hovertemplate: `${name}: %{x:,.4~g}<extra></extra>`});
    } else if (/lines/.test(trace.mode ?? "") && trace.name && !trace.line?.dash) {
      made.push({type: "scatter", mode: "lines", x: trace.x, y: trace.y, name, showlegend: false, line: {color, width: 2, shape: trace.line?.shape}, opacity: 0.75, hovertemplate: `${name}, ${trace.name}: %{y:,.4~g} at %{x:,~r}<extra></extra>`});
    }
  }
  return made;
}

// The axes reach what was added.
function reach(layout, traces) {
  for (const side of ["x", "y"]) {
    const axis = layout[`${side}axis`];
    if (!axis?.range || axis.visible === false) continue;
    const values = traces.flatMap((trace) => trace[side]).filter((value) => typeof value === "number" && (axis.type !== "log" || value > 0)).map((value) => axis.type === "log" ? Math.log10(value) : value);
    if (!values.length) continue;
    const top = Math.max(...values), span = axis.range[1] - axis.range[0];
    if (top > axis.range[1]) axis.range = [axis.range[0], top + 0.05 * span];
    if (axis.type === "log" && Math.min(...values) < axis.range[0]) axis.range = [Math.min(...values) - 0.05 * span, axis.range[1]];
  }
}

// Numbers of a picture as a table: a row for each x, or for each name beside the picture.
function tableOf(picture) {
  const shown = picture.data.filter((trace) => trace.name && trace.x && (trace.mode ?? "bar") !== "none");
  const across = shown.some((trace) => trace.y?.some((each) => typeof each === "string"));
  const [row, cell] = across ? ["y", "x"] : ["x", "y"];
  const columns = [], rows = new Map();
  shown.forEach((trace) => {
    // Traces of one name share a column where they have different rows.
    const name = trace.name.replace(/<[^>]*>/g, ""), keys = trace[row] ?? [];
    let at = columns.findIndex((each, c) => each === name && !keys.some((key) => rows.get(key)?.has(c)));
    if (at < 0) at = columns.push(name) - 1;
    keys.forEach((key, i) => {
      if (!rows.has(key)) rows.set(key, new Map());
      rows.get(key).set(at, trace[cell]?.[i]);
    });
  });
  const keys = [...rows.keys()];
  if (keys.every((key) => typeof key === "number")) keys.sort((a, b) => a - b);
  const unnamed = () => Object.assign(document.createElement("span"), {className: "hear", textContent: "name"});
  const text = (value) => typeof value === "number" ? value.toLocaleString("en", {maximumSignificantDigits: 4}) : value ?? "";
  const title = (axis) => (picture.layout[`${axis}axis`]?.title?.text ?? "").replace(/<[^>]*>/g, "");
  const table = document.createElement("table"), head = table.createTHead().insertRow(), body = table.createTBody();
  for (const name of [title(row), ...columns]) {
    const made = document.createElement("th");
    made.scope = "col"; made.textContent = name;
    if (!name) made.append(unnamed());
    head.append(made);
  }
  for (const key of keys.slice(0, 200)) {
    const line = body.insertRow(), made = document.createElement("th");
    made.scope = "row"; made.textContent = text(key);
    if (key === "") made.append(unnamed());
    line.append(made);
    for (const at of columns.keys()) line.insertCell().textContent = text(rows.get(key).get(at));
  }
  const box = document.createElement("div");
  box.className = "scroll"; box.tabIndex = 0;
  box.setAttribute("role", "region"); box.setAttribute("aria-label", `Numbers: ${picture.seen}`);
  box.append(table);
  return box;
}

// Draws one picture of an answer; `others` are [picture, colour, name] that stay beside it.
function plot(root, picture, at, others, guess) {
  let figure = root.querySelector(`#picture-${at}`);
  if (!figure) {
    figure = document.createElement("figure");
    figure.id = `picture-${at}`;
    figure.innerHTML = "<figcaption><b></b> <span></span></figcaption><div class=plot role=img></div><p class=hear></p><details class=numbers><summary>Numbers of this picture</summary></details>";
    root.querySelector("#pictures").append(figure);
    figure.querySelector("details").addEventListener("toggle", (event) => {
      if (event.target.open) event.target.fill();
    });
  }
  figure.hidden = false;
  figure.className = picture.wide ? "whole" : picture.layout.height > TALL ? "tall" : "";
  figure.querySelector("b").textContent = picture.seen;
  figure.querySelector("span").textContent = picture.drawn;
  figure.setAttribute("aria-label", picture.seen);
  figure.querySelector(".hear").textContent = picture.said;
  const details = figure.querySelector("details");
  details.fill = () => {
    details.querySelector(".scroll")?.remove();
    details.append(tableOf(picture));
  };
  if (details.open) details.fill();
  const place = figure.querySelector(".plot");
  place.setAttribute("aria-label", `${picture.seen}: ${picture.drawn}. ${picture.said}`);
  place.style.height = `${picture.layout.height}px`;
  const ghosts = others.flatMap(([other, color, name]) => ghostsOf(picture, other, color, name));
  if (guess) ghosts.push({type: "scatter", mode: "lines", x: guess.x, y: guess.y, name: "predicted", showlegend: false, line: {color: DRAWN, width: 2.5, dash: "dot"}, hovertemplate: "predicted: %{y:,.3~g} at %{x:,~r}<extra></extra>"});
  const layout = fitted(picture.layout, place);
  if (layout.showlegend) layout.legend.maxheight = LEGEND;
  if (layout.showlegend && narrow()) {
    // On a phone names of colours stand one below the other: the plot keeps its height beside them.
    const names = picture.data.filter((trace) => trace.name && trace.showlegend !== false).length;
    const more = Math.max(0, Math.min(LEGEND, 20 * names) + 12 - layout.margin.t);
    layout.height += more;
    layout.margin.t += more;
    place.style.height = `${layout.height}px`;
  }
  if (ghosts.length) reach(layout, ghosts);
  // What moves glides to its next place, unless the visitor wants no motion.
  if (layout.meta?.moves && !matchMedia("(prefers-reduced-motion: reduce)").matches) {
    layout.transition = {duration: 350, easing: "cubic-in-out"};
  }
  const drawn = Plotly.react(place, [...ghosts, ...picture.data], layout, {displayModeBar: false, responsive: true, doubleClick: false});
  // Long names of bars took width from the plot: fewer of its axis' numbers fit than were reckoned.
  drawn.then(() => {
    const axis = picture.layout.xaxis, real = place._fullLayout?.xaxis?._length;
    if (axis?.nticks && !axis.ticktext && real < FEW) Plotly.relayout(place, {"xaxis.nticks": 2});
    if (!axis?.ticktext || !layout.xaxis.range || !real || real > 0.9 * (place.clientWidth - layout.margin.l - layout.margin.r)) return;
    const fits = {...layout.xaxis, ticktext: [...axis.ticktext]};
    thin(fits, real);
    Plotly.relayout(place, {"xaxis.ticktext": fits.ticktext});
  });
  return ghosts.length;
}
