// A room: what its page does, with Python behind it or with all answers in the page.
//
// `ask(question, progress)` gives the answer to one setting: `asked` of the question has the index of
// each control's value. It may call `progress(done, of)` meanwhile.
const MOST_BYTES = 50e6;  // of an upload
const TALL = 400;  // pixels: beside it there is room for two pictures

function room(root, about, ask) {
  const find = (name) => root.querySelector(`#${name}`);
  const inputs = about.controls.map((_, at) => find(`control-${at}`));
  const config = {displayModeBar: false, responsive: true, doubleClick: false};
  let shown = null, under_way = false, again = false, uploaded = null;

  const values = () => inputs.map((input) => Number(input.value));
  function label() {
    values().forEach((value, at) => {
      const text = find(`value-${at}`), words = about.controls[at][value];
      if (text) text.textContent = words;
      inputs[at].setAttribute("aria-valuetext", words);
    });
  }

  // One question at a time; of those that come meanwhile, the last. The old answer stands until then.
  async function update() {
    label();
    if (under_way) { again = true; return; }
    under_way = true;
    const soon = setTimeout(() => { find("busy").hidden = false; root.classList.add("busy"); }, 300);
    find("steps").textContent = "";
    find("busy").querySelector("progress").removeAttribute("value");
    const question = {asked: values(), seed: about.seed};
    if (find("seed")) question.seed = find("seed").value === "" ? null : Number(find("seed").value);
    if (find("folder")) question.folder = find("folder").value;
    if (uploaded) { question.files = uploaded; uploaded = null; }
    const answer = await ask(question, progress);
    clearTimeout(soon);
    find("busy").hidden = true;
    root.classList.remove("busy");
    find("wrong").hidden = !answer.wrong;
    find("wrong").textContent = answer.wrong ?? "";
    if (!answer.wrong) { shown = answer; show(); }
    under_way = false;
    root.dataset.answered = again ? "" : "yes";
    if (again) { again = false; update(); }
  }

  function progress(done, of) {
    const bar = find("busy").querySelector("progress");
    bar.max = of;
    bar.value = done;
    find("steps").textContent = `step ${Math.min(done + 1, of)} of ${of}`;
  }

  function link(name, text) {
    const made = document.createElement("a");
    made.download = made.textContent = name;
    made.href = "data:application/toml;charset=utf-8," + encodeURIComponent(text);
    return made;
  }

  function show() {
    find("result").innerHTML = shown.result;
    const others = Object.entries(shown.files).flatMap(([name, text]) => [", ", link(name, text)]);
    find("files").replaceChildren(...(others.length ? [" beside ", ...others.slice(1)] : []));
    find("scenario").textContent = shown.scenario;
    find("download").href = "data:application/toml;charset=utf-8," + encodeURIComponent(shown.scenario);
    for (const figure of root.querySelectorAll("figure")) figure.hidden = true;
    shown.pictures.forEach(plot);
  }

  function plot(picture, at) {
    let figure = find(`picture-${at}`);
    if (!figure) {
      figure = document.createElement("figure");
      figure.id = `picture-${at}`;
      figure.setAttribute("role", "group");
      figure.innerHTML = "<figcaption><b></b> <span></span></figcaption><div class=plot role=img></div>";
      find("pictures").append(figure);
    }
    figure.hidden = false;
    figure.className = picture.wide ? "whole" : picture.layout.height > TALL ? "tall" : "";
    figure.querySelector("b").textContent = picture.seen;
    figure.querySelector("span").textContent = picture.drawn;
    const place = figure.querySelector(".plot");
    place.setAttribute("aria-label", `${picture.seen}: ${picture.drawn}`);
    place.style.height = `${picture.layout.height}px`;
    const layout = fitted(picture.layout, place);
    if (layout.showlegend) layout.legend.maxheight = 160;  // pixels; beyond it scrolls
    // What moves glides to its next place, unless the visitor wants no motion.
    if (layout.meta?.moves && !matchMedia("(prefers-reduced-motion: reduce)").matches) {
      layout.transition = {duration: 350, easing: "cubic-in-out"};
    }
    Plotly.react(place, picture.data, layout, config);
  }

  // A prediction stays what it was when it was first made, in this browser.
  const key = `raidlab-lab-${about.name}`;
  const keep = root.querySelector("#prediction button");
  function kept() {
    try { return localStorage.getItem(key); } catch { return null; }
  }
  function compare(guess) {
    const number = (value) => value.toLocaleString("en", {maximumSignificantDigits: 3});
    const factor = guess > 0 ? `, ${number(about.outcome / guess)} times the prediction` : "";
    find("compared").textContent = `Predicted: ${number(guess)} ${about.unit}. Simulated: ${about.outcome_text}${factor}. ${about.why}`;
    find("guess").value = guess;
    find("guess").disabled = true;
    keep.hidden = true;
    find("again").hidden = false;
  }
  // The next class begins anew.
  find("again").addEventListener("click", () => {
    try { localStorage.removeItem(key); } catch { /* Nothing was kept. */ }
    find("compared").textContent = find("guess").value = "";
    find("guess").disabled = keep.hidden = false;
    find("again").hidden = true;
    find("guess").focus();
  });
  find("prediction").addEventListener("submit", (event) => {
    event.preventDefault();
    const guess = kept() ?? find("guess").value;
    try { localStorage.setItem(key, guess); } catch { /* It is shown, and not kept. */ }
    compare(Number(guess));
  });
  if (kept() !== null && isFinite(Number(kept()))) compare(Number(kept()));

  // Moves a slider from its first value to its last, each step when the one before has its answer.
  for (const button of root.querySelectorAll("[data-plays]")) {
    const input = inputs[Number(button.dataset.plays)];
    button.addEventListener("click", async () => {
      button.disabled = true;
      for (let value = 0; value <= Number(input.max); value++) {
        input.value = value;
        await Promise.all([update(), new Promise((resolve) => setTimeout(resolve, 500))]);
      }
      button.disabled = false;
    });
  }
  for (const input of [...inputs, find("seed")]) input?.addEventListener("input", update);
  find("folder")?.addEventListener("change", update);
  find("upload")?.addEventListener("change", async (event) => {
    const files = [...event.target.files].filter((file) => /\.(json|log|toml|txt)$|manifest/.test(file.name));
    const name = event.target.files[0]?.webkitRelativePath.split("/")[0];
    if (!name) return;
    if (!files.length) {
      find("wrong").hidden = false;
      find("wrong").textContent = `${name}: holds no file that fio writes (.json, .log, .txt).`;
      return;
    }
    if (files.reduce((sum, file) => sum + file.size, 0) > MOST_BYTES) {
      find("wrong").hidden = false;
      find("wrong").textContent = `${name}: more than ${MOST_BYTES / 1e6} MB; type its path instead.`;
      return;
    }
    const texts = await Promise.all(files.map(async (file) => [file.webkitRelativePath, await file.text()]));
    uploaded = Object.fromEntries(texts);
    find("folder").value = `${name}, uploaded (${files.length} file${files.length === 1 ? "" : "s"})`;
    update();
  });
  let was = narrow();
  window.addEventListener("resize", () => {
    if (narrow() !== was && shown) { was = narrow(); show(); }
  });
  update();
}
