// Moving pictures of a mechanism: shapes that stand, dots that move along their keys, captions.
//
// A slider has one position for each step, so that a keyboard reaches every one. Play runs through
// the time between steps; a visitor who wants no motion gets one step after the other instead.
const SCENE_S = 12;  // that Play takes, all steps together

function scene(root, found, at) {
  const old = root.querySelector(`#scene-${at}`);
  const figure = old ?? document.createElement("figure");
  figure.stop?.();
  figure.id = `scene-${at}`;
  figure.className = "scene" + (found.wide ? " whole" : "");
  figure.hidden = false;
  figure.setAttribute("aria-label", found.seen);
  figure.innerHTML = "<figcaption><b></b> <span></span></figcaption><svg role=img></svg><div class=steps><button type=button>Play</button><label><span class=hear>Step of the picture</span><input type=range min=0 step=1></label></div><p class=caption></p>";
  if (!old) root.querySelector("#pictures").prepend(figure);
  figure.querySelector("b").textContent = found.seen;
  figure.querySelector("figcaption span").textContent = found.drawn;
  const svg = figure.querySelector("svg"), caption = figure.querySelector(".caption");
  svg.setAttribute("viewBox", `0 0 ${found.width} ${found.height}`);
  svg.setAttribute("aria-label", `${found.seen}. ${found.steps.map((step) => step.text).join(" ")}`);
  const make = (name, attributes, text) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) if (value != null && value !== "") made.setAttribute(key, value);
    if (text) made.textContent = text;
    svg.append(made);
    return made;
  };
  const shapes = found.shapes.map((shape) => {
    const {kind, text, color, ...rest} = shape;
    const look = {class: `${kind} ${rest.look ?? ""}`, fill: kind === "rect" || kind === "circle" ? color || "none" : null, stroke: kind === "path" ? color : null};
    if (kind === "rect") return [make("rect", {...look, x: rest.x, y: rest.y, width: rest.width, height: rest.height, rx: 3}), shape];
    if (kind === "circle") return [make("circle", {...look, cx: rest.x, cy: rest.y, r: rest.width}), shape];
    if (kind === "path") return [make("polyline", {...look, points: rest.points.map((each) => each.join(",")).join(" "), fill: "none"}), shape];
    return [make("text", {...look, x: rest.x, y: rest.y, "text-anchor": rest.anchor}, text), shape];
  });
  const dots = found.dots.map((dot) => {
    const circle = make("circle", {class: "dot", r: dot.size});
    const title = document.createElementNS("http://www.w3.org/2000/svg", "title");
    title.textContent = dot.name;
    circle.append(title);
    return [circle, dot.text ? make("text", {class: "dot-name", "text-anchor": "middle"}, dot.text) : null, dot];
  });
  const end = found.steps[found.steps.length - 1].t;
  function show(t) {
    for (const [made, shape] of shapes) {
      const hidden = t < (shape.begins ?? -Infinity) - 1e-9 || t > (shape.ends ?? Infinity) + 1e-9;
      made.setAttribute("visibility", hidden ? "hidden" : "visible");
      if (shape.kind === "rect" && shape.grown != null) {
        const share = Math.min(1, Math.max(0, (t - shape.begins) / Math.max(1e-9, shape.grown - shape.begins)));
        made.setAttribute("width", share * shape.width);
      }
    }
    for (const [circle, name, dot] of dots) {
      const keys = dot.keys, first = keys[0], last = keys[keys.length - 1];
      const gone = t < first.t - 1e-9 || (t > last.t + 1e-9 && !dot.stays);
      let i = keys.findLastIndex((key) => key.t <= t + 1e-9);
      i = Math.max(0, i);
      const a = keys[i], b = keys[Math.min(i + 1, keys.length - 1)];
      const share = b.t > a.t ? Math.min(1, Math.max(0, (t - a.t) / (b.t - a.t))) : 0;
      const x = a.x + share * (b.x - a.x), y = a.y + share * (b.y - a.y);
      circle.setAttribute("cx", x); circle.setAttribute("cy", y);
      circle.setAttribute("visibility", gone ? "hidden" : "visible");
      circle.setAttribute("fill", a.hollow ? "var(--bg)" : a.color);
      circle.setAttribute("stroke", a.color);
      if (name) {
        name.setAttribute("x", x); name.setAttribute("y", y + 4);
        name.setAttribute("visibility", gone ? "hidden" : "visible");
        name.classList.toggle("hollow", !!a.hollow);
      }
    }
  }
  const slider = figure.querySelector("input"), button = figure.querySelector("button");
  slider.max = found.steps.length - 1;
  const step = (i) => {
    show(found.steps[i].t);
    caption.textContent = found.steps[i].text;
    slider.setAttribute("aria-valuetext", found.steps[i].text);
  };
  slider.value = found.at ?? 0;
  step(Number(slider.value));
  let frame = 0;
  figure.stop = () => { cancelAnimationFrame(frame); clearTimeout(frame); button.textContent = "Play"; frame = 0; };
  slider.addEventListener("input", () => { figure.stop(); step(Number(slider.value)); });
  button.addEventListener("click", () => {
    if (frame) { figure.stop(); return; }
    button.textContent = "Stop";
    let i = 0;
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) {
      const next = () => {
        slider.value = i; step(i);
        if (++i < found.steps.length) frame = setTimeout(next, 1200); else figure.stop();
      };
      next();
      return;
    }
    const seconds = Math.min(SCENE_S, 1.5 * found.steps.length), began = performance.now();
    // Equal time for each step, however long it lasts: short ones are seen too.
    const run = (now) => {
      const at = Math.min(found.steps.length - 1, (now - began) / 1000 / seconds * (found.steps.length - 1));
      i = Math.floor(at + 1e-9);
      const a = found.steps[i].t, b = found.steps[Math.min(i + 1, found.steps.length - 1)].t;
      slider.value = i;
      caption.textContent = found.steps[i].text;
      show(a + (at - i) * (b - a));
      if (at < found.steps.length - 1) frame = requestAnimationFrame(run); else { step(i); figure.stop(); }
    };
    frame = requestAnimationFrame(run);
  });
  return end;
}
