// A room: what its page does, with Python behind it or with all answers in the page.
//
// `ask(question, progress, late)` gives the answer to one setting: `asked` of the question has the
// index of each control's value, `five` asks for the spread over five seeds; with `outcome` it gives
// what was to be predicted. It may call `progress(done, of)` meanwhile, and `late(answer)` after it gave up.
const MOST_BYTES = 50e6;  // of an upload

function room(root, about, ask) {
  const find = (name) => root.querySelector(`#${name}`);
  const inputs = about.controls.map((_, at) => find(`control-${at}`));
  // An address of its own, which may say a setting; a notebook's is another program's.
  const own = new RegExp(`/${about.name}(/|\\.html)$`).test(location.pathname);
  let shown = null, before = null, pinned = null, guess = null, predicted = false;
  let under_way = false, again = false, uploaded = null;
  let stale = "";  // What the link said wrong, until the visitor chooses something else.

  const values = () => inputs.map((input) => Number(input.value));
  // A setting in words: the controls that differ from another one, or all of them.
  function named(asked, other) {
    const apart = asked.map((value, at) => at).filter((at) => asked[at] !== other[at]);
    const all = apart.length ? apart : asked.map((value, at) => at);
    return all.map((at) => `${about.controls[at].label}: ${about.controls[at].words[asked[at]]}`).join(", ");
  }
  function label() {
    values().forEach((value, at) => {
      const text = find(`value-${at}`), words = about.controls[at].words[value];
      if (text) text.textContent = words;
      if (inputs[at].type === "range") inputs[at].setAttribute("aria-valuetext", words);
    });
  }
  function warn(text) {
    find("wrong").hidden = !text;
    find("wrong").textContent = text;
  }

  // The address says the setting: #depth=8&seed=2. What it does not name starts as in exercises
  // and answers, not where the room opens: that setting only covers what is to be predicted.
  function fromLink() {
    const faults = [];
    if (!own || location.hash.length < 2) return "";
    about.start.forEach((place, at) => { inputs[at].value = place; });
    if (find("seed")) find("seed").value = about.seed;
    if (find("five")) find("five").checked = false;
    for (const [name, value] of new URLSearchParams(location.hash.slice(1))) {
      const at = about.controls.findIndex((control) => control.name === name);
      if (at >= 0 && about.controls[at].values.includes(value)) inputs[at].value = about.controls[at].values.indexOf(value);
      else if (at >= 0) faults.push(`${name}=${value}: one of ${about.controls[at].values.join(", ")}; shown is ${about.controls[at].values[about.start[at]]}`);
      else if (name === "seed" && /^\d{1,7}$/.test(value) && find("seed")) find("seed").value = value;
      else if (name === "seed" && find("seed")) faults.push(`seed=${value}: a whole number; shown is ${about.seed}`);
      else if (name === "five" && find("five")) find("five").checked = value === "yes";
      else if (name !== "seed" && name !== "five") faults.push(`${name}: this room has ${about.controls.map((control) => control.name).join(", ")}`);
    }
    return faults.length ? `The link is of another version of this room. ${faults.join("; ")}.` : "";
  }
  function toLink() {
    if (!own) return;
    const said = new URLSearchParams(values().map((value, at) => [about.controls[at].name, about.controls[at].values[value]]));
    if (find("seed") && Number(find("seed").value) !== about.seed) said.set("seed", find("seed").value);
    if (find("five")?.checked) said.set("five", "yes");
    history.replaceState(null, "", `#${said}`);
  }

  function asking() {
    const question = {asked: values(), seed: about.seed};
    if (find("seed")) question.seed = find("seed").value === "" ? null : Number(find("seed").value);
    if (find("folder")) question.folder = find("folder").value;
    if (find("five")?.checked) question.five = true;
    if (uploaded) { question.files = uploaded; uploaded = null; }
    return question;
  }

  // One question at a time; of those that come meanwhile, the last. The old answer stands until then.
  async function update() {
    label();
    if (!root.classList.contains("open")) return;
    if (under_way) { again = true; return; }
    under_way = true;
    const soon = setTimeout(() => { find("busy").hidden = false; root.classList.add("busy"); }, 300);
    find("steps").textContent = "";
    find("still").textContent = shown && String(shown.asked) !== String(values()) ? `; below is still ${named(shown.asked, values())}` : "";
    find("busy").querySelector("progress").removeAttribute("value");
    toLink();
    const question = asking();
    const take = (answer) => {
      warn(answer.wrong ?? stale);
      root.classList.toggle("stale", !!answer.wrong);
      if (answer.wrong) return;
      if (shown && String(shown.asked) !== String(question.asked)) before = shown;
      shown = {...answer, asked: question.asked};
      show();
    };
    const answer = await ask(question, progress, take);
    clearTimeout(soon);
    find("busy").hidden = true;
    root.classList.remove("busy");
    take(answer);
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
    find("command").textContent = shown.command;
    find("download").href = "data:application/toml;charset=utf-8," + encodeURIComponent(shown.scenario);
    for (const figure of root.querySelectorAll("figure")) figure.hidden = true;
    let grey = 0, held = 0;
    shown.pictures.forEach((picture, at) => {
      const drawn = guess && about.form.picture === at ? {x: about.form.x, y: guess} : null;
      const beside = [];
      if (pinned) beside.push([pinned.pictures[at], PINNED, "pinned"]);
      if (before && before !== pinned) beside.push([before.pictures[at], GHOST, "before"]);
      const count = plot(root, picture, at, beside, drawn);
      grey += before && before !== pinned ? count : 0;
      held += pinned ? count : 0;
    });
    [...shown.scenes].reverse().forEach((each, at) => scene(root, each, shown.scenes.length - 1 - at));
    const said = [];
    if (grey) said.push(`Grey: before (${named(before.asked, shown.asked)}).`);
    if (held) said.push(`Purple: pinned (${named(pinned.asked, shown.asked)}).`);
    if (guess) said.push("Dotted orange: the drawn prediction.");
    find("ghosts").textContent = said.join(" ");
    const moved = predicted && String(shown.asked) !== String(about.at);
    find("apart").textContent = moved ? `The prediction was for ${named(about.at, shown.asked)}; below is ${named(shown.asked, about.at)}.` : "";
  }
  find("pin").addEventListener("click", () => {
    pinned = pinned ? null : shown;
    find("pin").setAttribute("aria-pressed", String(!!pinned));
    find("pin").textContent = pinned ? "Unpin" : "Pin this result";
    if (shown) show();
  });

  // Result, pictures and claims stay covered until a prediction is kept, or waived.
  const field = about.form.kind === "curve" ? curveField(find("draw"), about.form) : null;
  function guessed() {
    if (field) return field.value();
    if (about.form.kind === "choice") {
      const chosen = root.querySelector("[name=choice]:checked");
      return chosen ? Number(chosen.value) : null;
    }
    return typed(find("guess").value, about);
  }
  function fill(value) {
    if (field) field.set(value);
    else if (about.form.kind === "choice") root.querySelectorAll("[name=choice]").forEach((each, at) => { each.checked = at === value; });
    else find("guess").value = value ?? "";
  }
  function lock(locked) {
    field?.disable(locked);
    for (const input of root.querySelectorAll("#prediction input")) input.disabled = locked;
    find("entry").hidden = locked;
    find("again").hidden = find("export").hidden = !locked;
  }
  async function open(value, at) {
    if (at) stale = "";
    lock(true);
    if (at) {
      at.forEach((place, i) => { inputs[i].value = place; });
      label();
    }
    root.classList.add("open");
    root.classList.toggle("predicted", value !== null);
    find("covered").hidden = true;
    if (value === null) {
      find("compared").textContent = "Shown without a prediction.";
    } else {
      find("compared").textContent = "Simulating what was predicted.";
      guess = field ? value : null;
      predicted = true;
      const found = await ask({outcome: true, asked: values(), seed: about.seed}, progress);
      if (found.wrong) { find("compared").textContent = ""; warn(found.wrong); }
      else {
        const was = keptOf(about);
        find("compared").textContent = comparedText(about, value, found) + seenText(about, was);
        const words = about.form.kind === "choice" ? about.form.words[value] : undefined;
        keep(about, {...was, value, words, outcome: found.values ?? (about.form.kind === "choice" ? found.text : Number(found.value.toPrecision(4))), unit: about.unit, at: was?.at ?? new Date().toISOString().slice(0, 16)});
      }
    }
    update();
  }
  find("prediction").addEventListener("input", () => { find("nonsense").hidden = true; });
  find("prediction").addEventListener("submit", (event) => {
    event.preventDefault();
    const value = guessed();
    const wrong = wrongGuess(about, value);
    find("nonsense").textContent = wrong;
    find("nonsense").hidden = !wrong;
    if (wrong) return;
    const was = keptOf(about);
    keep(about, {value, at: new Date().toISOString().slice(0, 16), seen: !!was, first: firstOf(was)});
    open(value, about.at);
    find("compared").focus({preventScroll: true});
  });
  find("waive").addEventListener("click", () => {
    find("nonsense").hidden = true;
    keep(about, {value: null, seen: true, first: firstOf(keptOf(about))});
    open(null, own && location.hash.length > 1 ? null : about.at);
    find("compared").focus({preventScroll: true});
  });
  find("export").addEventListener("click", () => {
    let student = "";
    try { student = localStorage.getItem("raidlab-lab-student") ?? ""; } catch { /* Not kept. */ }
    exportPredictions(student);
  });
  // What is predicted now is kept beside the first prediction; the list of rooms forgets both.
  find("again").addEventListener("click", () => {
    keep(about, {value: null, seen: true, covered: true, first: firstOf(keptOf(about))});
    guess = before = null;
    predicted = false;
    find("apart").textContent = "";
    fill(null);
    lock(false);
    find("compared").textContent = "";
    root.classList.remove("open", "predicted");
    find("covered").hidden = false;
    root.dataset.answered = "";
    root.querySelector("#prediction input")?.focus();
  });

  function chosen() {
    if (stale) warn("");
    stale = "";
    return update();
  }
  // A question of "what to notice" is answered by a setting; its button goes there.
  for (const button of root.querySelectorAll("[data-goes]")) {
    button.addEventListener("click", () => {
      JSON.parse(button.dataset.goes).forEach((place, i) => { inputs[i].value = place; });
      chosen();
      find("result").scrollIntoView({block: "center"});
    });
  }

  // Moves a slider from its first value to its last, each step when the one before has its answer.
  for (const button of root.querySelectorAll("[data-plays]")) {
    const input = inputs[Number(button.dataset.plays)];
    button.addEventListener("click", async () => {
      button.disabled = true;
      find("result").setAttribute("aria-live", "off");
      for (let value = 0; value <= Number(input.max); value++) {
        if (value === Number(input.max)) find("result").setAttribute("aria-live", "polite");
        input.value = value;
        await Promise.all([chosen(), new Promise((resolve) => setTimeout(resolve, 500))]);
      }
      button.disabled = false;
    });
  }
  for (const input of [...inputs, find("seed"), find("five")]) input?.addEventListener("input", chosen);
  find("folder")?.addEventListener("change", chosen);
  find("upload")?.addEventListener("change", async (event) => {
    const files = [...event.target.files].filter((file) => /\.(json|log|toml|txt)$|manifest/.test(file.name));
    const name = event.target.files[0]?.webkitRelativePath.split("/")[0];
    if (!name) return;
    if (!files.length) { warn(`${name}: holds no file that fio writes (.json, .log, .txt).`); return; }
    if (files.reduce((sum, file) => sum + file.size, 0) > MOST_BYTES) {
      warn(`${name}: more than ${MOST_BYTES / 1e6} MB; type its path instead.`);
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
  window.addEventListener("hashchange", () => { stale = fromLink(); update(); warn(stale); });

  stale = fromLink();
  label();
  const kept = keptOf(about);
  if (kept && !kept.covered) {
    fill(kept.value);
    // A link says where to go; without one the page goes to what was predicted.
    open(kept.value, own && location.hash.length > 1 ? null : about.at);
  } else {
    // While the visitor thinks, what is to be predicted is simulated: the answer is there at once.
    ask({outcome: true, asked: about.at, seed: about.seed}, () => {});
  }
  if (stale) warn(stale);
}
