// Predictions: a number, a choice or a drawn curve, kept in this browser, exported as CSV.
const KEPT = "raidlab-lab-prediction-";
const three = (value) => value.toLocaleString("en", value >= 1000 ? {maximumFractionDigits: 0} : {maximumSignificantDigits: 3});

// What is kept of a room; null for nothing, or for nonsense of another version. `value` is the last
// prediction, null for none; `seen` says that the result had been seen before it, `first` is the one
// that was made before; `covered` says that the visitor is about to predict again.
function keptOf(about) {
  try {
    const found = JSON.parse(localStorage.getItem(KEPT + about.name));
    return found && (found.value === null || wrongGuess(about, found.value) === "") ? found : null;
  } catch { return null; }
}
function keep(about, found) {
  try {
    if (found) localStorage.setItem(KEPT + about.name, JSON.stringify(found));
    else localStorage.removeItem(KEPT + about.name);
  } catch { /* It is shown, and not kept. */ }
}

// The prediction that was made before the result was seen, if there is one.
function firstOf(found) {
  return found?.first ?? (found && found.value !== null && !found.seen ? found : undefined);
}

// What a number can mean where points and commas are either decimal or between thousands.
function readings(said) {
  const plain = said.replace(/(\d)[\s'’](?=\d{3}(\D|$))/g, "$1"), marks = plain.match(/[.,]/g) ?? [];
  const number = (text) => /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text) && isFinite(Number(text)) ? [Number(text)] : [];
  if (marks.length < 2) {
    const both = /^[1-9]\d{0,2}[.,]\d{3}$/.test(plain);
    return [...number(plain.replace(",", ".")), ...(both ? number(plain.replace(/[.,]/, "")) : [])];
  }
  const [first] = marks, last = marks.at(-1), end = last === first ? "" : `\\${last}\\d+`;
  if (!new RegExp(`^\\d{1,3}(\\${first}\\d{3})+${end}$`).test(plain)) return [];
  return number(plain.replaceAll(first, "").replace(last, "."));
}

// A unit in words; what stands after a number may be the unit itself or one of these.
const WORDS = {
  "IO/s": ["iops", "i/os", "ios", "ios/s", "io per second", "ios per second", "per second", "a second", "/s"],
  "records/s": ["records", "records per second", "records a second", "per second", "a second", "/s", "io/s", "iops"],
  "MB/s": ["mb per second", "megabytes per second"],
  "%": ["percent", "per cent"],
  h: ["hour", "hours", "hr", "hrs"],
  s: ["second", "seconds", "sec"],
  ms: ["millisecond", "milliseconds", "msec"],
  times: ["x", "×", "time", "fold"],
  disks: ["disk", "drives", "drive"],
};

// What was typed as a number, "1,600 IO/s" as rooms write it. Otherwise the text, `{said, either}`
// if it can be two numbers of this room, `{said, other}` with another unit.
function typed(text, about) {
  const said = text.trim(), unit = about.unit ?? "", {least, most} = about.form;
  const [, number, own] = said.match(/^([+-]?[\d.,\s'’]*\d[.,]?(?:e[+-]?\d+)?)\s*(\D.*)?$/i) ?? [];
  if (number === undefined) return said;
  const known = [unit, ...(WORDS[unit] ?? [])].map((each) => each.toLowerCase());
  if (own && !known.includes(own.trim().toLowerCase())) return {said, other: own.trim()};
  const found = readings(number.trim()), fits = found.filter((each) => each >= least && each <= most);
  if (fits.length > 1) return {said, either: fits};
  return fits[0] ?? found[0] ?? said;
}

// Why a guess is none; empty if it is one.
function wrongGuess(about, value) {
  const {kind, least, most, words, x} = about.form;
  const shown = value === null || value === "" ? "Nothing" : `"${String(value?.said ?? value).slice(0, 40)}"`;
  if (value?.either) {
    const [part, whole] = value.either;
    return `${shown} can be ${part} or ${whole.toLocaleString("en")}: type ${Number.isInteger(100 * part) ? part : `${part}0`} or ${whole}.`;
  }
  if (kind === "number") {
    const fits = typeof value === "number" && isFinite(value) && value >= least && value <= most;
    const unit = value?.other ? ` in "${value.other.slice(0, 20)}"` : "";
    return fits ? "" : `${shown} is no prediction${unit}: type a number from ${least.toLocaleString("en")} to ${most.toLocaleString("en")}${about.unit ? ` ${about.unit}` : ""}.`;
  }
  if (kind === "choice") {
    return Number.isInteger(value) && value >= 0 && value < words.length ? "" : "Nothing is chosen: pick one of the sentences.";
  }
  if (!Array.isArray(value) || value.length !== x.length || value.every((y) => y === null)) {
    return "Nothing is drawn: draw a curve from the left edge to the right one.";
  }
  const at = (i) => `${about.form.across} ${x[i].toLocaleString("en")}`;
  const none = value.findIndex((y) => typeof y !== "number");
  if (none >= 0) return `No value at ${at(none)}: draw the curve on, or type the point.`;
  const off = value.findIndex((y) => !(y >= least && y <= most));
  return off < 0 ? "" : `${value[off].toLocaleString("en")} at ${at(off)} is no prediction: a number from ${least.toLocaleString("en")} to ${most.toLocaleString("en")}${about.unit ? ` ${about.unit}` : ""}.`;
}

// What is said of a prediction that was made after the result was seen.
function seenText(about, kept) {
  if (!kept?.seen) return "";
  if (!kept.first) return " Made after the result was seen: it counts apart.";
  const value = kept.first.value, {kind, words} = about.form;
  const was = kind === "number" ? `, ${three(value)}${about.unit ? ` ${about.unit}` : ""},` : kind === "choice" ? ` (${words[value]})` : "";
  return ` Made after the result was seen: the first prediction${was} counts.`;
}

// What is said once the prediction is kept and the simulation is there.
function comparedText(about, value, found) {
  const {kind, words, x} = about.form;
  if (kind === "choice") {
    return `Predicted: ${words[value]} Simulated: ${found.text} ${found.why}`;
  }
  if (kind === "curve") {
    const off = x.map((at, i) => Math.abs(found.values[i] - value[i]));
    const worst = off.indexOf(Math.max(...off));
    return `The drawn curve stays in the picture, dotted. Farthest apart at ${three(x[worst])}: drawn ${three(value[worst])}, simulated ${three(found.values[worst])} ${about.unit}. ${found.why}`;
  }
  const ratio = value > 0 && found.value > 0 ? found.value / value : 0;
  const high = `; the prediction is ${three(1 / ratio)} times as high`;
  const equal = three(ratio) === "1" || three(1 / ratio) === "1";
  const factor = equal ? ", as predicted" : ratio >= 1 ? `, ${three(ratio)} times the prediction` : ratio ? high : "";
  return `Predicted: ${three(value)} ${about.unit}. Simulated: ${found.text}${factor}. ${found.why}`;
}

// All predictions of this browser as lines of a file that `raidlab lab --class` reads.
function predictionsCsv(student) {
  const quoted = (value) => `"${String(value).replaceAll('"', '""')}"`;
  const rows = [["student", "room", "prediction", "outcome", "unit", "kept", "seen_before"]];
  for (let at = 0; at < localStorage.length; at++) {
    const key = localStorage.key(at);
    if (!key.startsWith(KEPT)) continue;
    try {
      const found = JSON.parse(localStorage.getItem(key));
      const flat = (value) => Array.isArray(value) ? value.join(" ") : value ?? "";
      const first = firstOf(found), last = found && (!first || found.seen) ? [found] : [];
      for (const each of [...(first ? [first] : []), ...last]) {
        rows.push([student, key.slice(KEPT.length), flat(each.words ?? each.value), flat(each.outcome), each.unit ?? "", each.at ?? "", each === first ? "no" : "yes"]);
      }
    } catch { /* Another program's. */ }
  }
  return rows.map((row) => row.map(quoted).join(",")).join("\r\n") + "\r\n";
}
function forgetPredictions() {
  for (const key of Object.keys(localStorage)) {
    if (key.startsWith(KEPT) || key === "raidlab-lab-student") localStorage.removeItem(key);
  }
}
function exportPredictions(student) {
  if (predictionsCsv("").trim().split("\n").length < 2) {
    alert("There is no prediction in this browser yet: keep one in a room first.");
    return;
  }
  const made = document.createElement("a");
  made.download = `predictions-${(student || "student").replace(/[^\p{L}\p{N}]+/gu, "-")}.csv`;
  made.href = URL.createObjectURL(new Blob([predictionsCsv(student || "student")], {type: "text/csv"}));
  made.click();
  setTimeout(() => URL.revokeObjectURL(made.href), 10000);
}

// A field to draw a curve in, with mouse, finger or keyboard; `value()` has a number or null a point.
function curveField(place, form) {
  // On a phone as wide as it is shown, so that its letters keep their size.
  const W = narrow() ? 320 : 600, H = narrow() ? 200 : 260, L = 60, R = 20, T = 12, B = 46;
  const {x, least, most, log, ticks} = form;
  const scale = (value, low, high, log) => log ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low);
  const px = (at) => L + scale(at, x[0], x[x.length - 1], log) * (W - L - R);
  const py = (y) => T + (1 - scale(y, least, most, least > 0)) * (H - T - B);
  // What was typed beyond the axis is drawn at its end, and refused.
  const inside = (y) => py(Math.min(most, Math.max(least, y)));
  const values = x.map(() => null);
  const make = (name, attributes, text) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (text !== undefined) made.textContent = text;
    return made;
  };
  const svg = make("svg", {viewBox: `0 0 ${W} ${H}`, class: "drawn", role: "img", "aria-label": `A field to draw in: ${form.up} over ${form.across}. The numbers below it do the same.`});
  for (const tick of ticks) {
    svg.append(make("line", {x1: L, x2: W - R, y1: py(tick), y2: py(tick), class: "grid"}));
    svg.append(make("text", {x: L - 6, y: py(tick) + 5, "text-anchor": "end"}, three(tick)));
  }
  let end = -1e9;
  for (const at of x) {
    if (px(at) - end < 44) continue;
    end = px(at);
    svg.append(make("text", {x: px(at), y: H - B + 18, "text-anchor": "middle"}, at.toLocaleString("en")));
  }
  svg.append(make("text", {x: (L + W - R) / 2, y: H - 6, "text-anchor": "middle"}, form.across));
  svg.append(make("text", {x: L + 6, y: T + 14, "text-anchor": "start"}, form.up));
  const line = make("polyline", {class: "curve", fill: "none"});
  svg.append(line);
  const points = x.map((at) => { const made = make("circle", {r: 5, class: "point", cx: px(at)}); svg.append(made); return made; });
  const table = document.createElement("div");
  table.className = "points";
  const fields = x.map((at, i) => {
    const label = document.createElement("label"), input = document.createElement("input");
    input.type = "number"; input.min = least; input.max = most; input.step = "any";
    input.addEventListener("input", () => { values[i] = input.value === "" ? null : Number(input.value); show(i); });
    label.append(`${at.toLocaleString("en")} `, input);
    table.append(label);
    return input;
  });
  function show(typed) {
    const known = x.map((at, i) => [px(at), values[i]]).filter(([, y]) => y !== null);
    line.setAttribute("points", known.map(([at, y]) => `${at},${inside(y)}`).join(" "));
    points.forEach((point, i) => {
      point.setAttribute("cy", inside(values[i] ?? least));
      point.setAttribute("visibility", values[i] === null ? "hidden" : "visible");
      if (i !== typed) fields[i].value = values[i] === null ? "" : Number(values[i].toPrecision(3));
    });
  }
  // A stroke sets every point that it passes; between two events it is straight.
  let was = null, down = false, off = false;
  function move(event) {
    const box = svg.getBoundingClientRect();
    const at = [(event.clientX - box.left) / box.width * W, (event.clientY - box.top) / box.height * H];
    const y = (height) => {
      const share = Math.min(1, Math.max(0, 1 - (height - T) / (H - T - B)));
      return least > 0 ? least * (most / least) ** share : share * most;
    };
    const from = was ?? at, [a, b] = [Math.min(from[0], at[0]), Math.max(from[0], at[0])];
    const near = (W - L - R) / x.length / 2;
    x.forEach((each, i) => {
      const here = px(each);
      if (here < a - (was ? 0 : near) || here > b + (was ? 0 : near)) return;
      const share = at[0] === from[0] ? 1 : (here - from[0]) / (at[0] - from[0]);
      values[i] = y(from[1] + Math.min(1, Math.max(0, share)) * (at[1] - from[1]));
    });
    was = at;
    show();
  }
  svg.addEventListener("pointerdown", (event) => { if (off) return; down = true; was = null; svg.setPointerCapture(event.pointerId); move(event); event.preventDefault(); });
  svg.addEventListener("pointermove", (event) => { if (down) move(event); });
  for (const name of ["pointerup", "pointercancel"]) svg.addEventListener(name, () => { down = false; was = null; });
  const more = document.createElement("details"), summary = document.createElement("summary");
  summary.textContent = "Type the points instead";
  more.append(summary, table);
  place.append(svg, more);
  show();
  return {
    value: () => values.map((each) => each === null ? null : Number(each.toPrecision(4))),
    set: (wanted) => { x.forEach((_, i) => { values[i] = wanted ? wanted[i] : null; }); show(); },
    disable: (wanted) => { off = wanted; fields.forEach((field) => { field.disabled = wanted; }); },
  };
}
