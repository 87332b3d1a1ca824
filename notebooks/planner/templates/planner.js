// The planner's page: what is chosen becomes a question, whose answer is shown beside it.
const POLL_MS = 250;
const PAUSE_MS = 500;
const SOON_S = 20;  // An answer that took longer is not asked for again by each control.
const at = (id) => document.getElementById(id);
const offered = JSON.parse(at("offered").textContent);
const tab = Math.random().toString(36).slice(2);
const chosen = {drives: [], controllers: [], offers: []};
const prices = {}, closed = new Set();
let asked = 0, timer = null, everAsked = false, lastTook = 0, stopping = false;

const words = (name) => (offered.drives.find((each) => each.name === name) ?? offered.controllers.find((each) => each.name === name))?.words ?? name;
const element = (name, properties = {}, ...inside) => {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...inside);
  return made;
};

// Sliders say their value; those with a list of values stand for its entries.
function valueOf(input) {
  return input.dataset.values ? Number(input.dataset.values.split(",")[input.value]) : Number(input.value);
}
function showSlider(input) {
  const value = valueOf(input), unit = input.dataset.unit;
  const months = unit === "years" && value < 1;
  const shown = months ? Math.round(12 * value) : value;
  const word = unit === "years" ? `${months ? "month" : "year"}${shown === 1 ? "" : "s"}` : unit;
  const text = `${shown.toLocaleString("en")} ${word}`.trim();
  at(`${input.id}-shown`).textContent = text;
  input.setAttribute("aria-valuetext", text);
}

// A load without a rate of its own has none that could grow.
function isClosed() {
  const [kind, ...rest] = at("load").value.split(":");
  if (kind === "uploaded") return closed.has(rest.join(":"));
  return kind === "profile" && !offered.rates.includes(rest.join(":"));
}

// What depends on the kind of load.
function showLoad() {
  const kind = at("load").value.split(":")[0];
  const profile = at("load").value.split(":")[1];
  const seen = {
    described: kind === "described",
    rate: kind === "described" || (kind === "profile" && offered.rates.includes(profile)),
    area: kind !== "uploaded",
    growth: !isClosed(),
    closed: isClosed(),
    present: at("present").value !== "",
    offers: offers(),
    range: !offers(),
  };
  for (const each of document.querySelectorAll("[data-for]")) each.hidden = !seen[each.dataset.for];
}

// Offers are compared alone: each has its drive, number and level.
const offers = () => at("compared").value === "offers";
const drivesCompared = () => offers() ? [...new Set(chosen.offers.map((each) => each.drive))] : chosen.drives;
function wordsOf(what, each) {
  if (what === "offers") return `${each.count} x ${words(each.drive)}, ${each.level.toUpperCase().replace("RAID", "RAID ")}`;
  return each === "none" ? "the operating system" : words(each);
}
// The answer calls devices by their names in the catalogue.
const nameOf = (what, each) => what === "offers" ? each.drive : each === "none" ? "" : each;

// Offers, drives and controllers that are compared, and the prices of all.
function showChosen() {
  for (const what of ["offers", "drives", "controllers"]) {
    at(what).replaceChildren(...chosen[what].map((name) => {
      const text = wordsOf(what, name);
      const remove = element("button", {type: "button", className: "quiet", textContent: "Remove"});
      remove.setAttribute("aria-label", `Remove ${text}`);
      remove.addEventListener("click", () => {
        chosen[what] = chosen[what].filter((each) => each !== name);
        showChosen();
        (at(what).querySelector("button") ?? at(`add-${what.slice(0, -1)}`)).focus();
        changed();
      });
      return element("li", {}, element("span", {textContent: text}, " ", element("small", {className: "soft", textContent: nameOf(what, name)})), remove);
    }));
  }
  const priced = [...drivesCompared(), ...chosen.controllers.filter((name) => name !== "none")];
  at("prices").replaceChildren(...priced.map((name) => {
    const input = element("input", {type: "number", min: 0, step: "any", id: `price-${name}`, value: prices[name]?.cost ?? ""});
    input.addEventListener("change", () => {
      if (input.value === "") delete prices[name];
      else prices[name] = {...prices[name], device: name, cost: Number(input.value)};
      changed();
    });
    return element("div", {className: "price"}, element("label", {htmlFor: input.id, textContent: words(name)}), input);
  }));
}
function add(what, name) {
  if (name && !chosen[what].includes(name)) chosen[what].push(name);
  showChosen();
  changed();
}
function addOffer() {
  const offer = {drive: at("model").value, count: Number(at("offer_count").value), level: at("offer_level").value};
  if (!chosen.offers.some((each) => Object.keys(offer).every((key) => each[key] === offer[key]))) chosen.offers.push(offer);
  showChosen();
  changed();
}
function showFamilies() {
  const families = [...new Set(offered.drives.map((each) => each.family))].sort(), kept = at("family").value;
  at("family").replaceChildren(...families.map((each) => new Option(each, each)));
  if (kept) at("family").value = kept;
}
function showModels() {
  const family = at("family").value;
  at("model").replaceChildren(...offered.drives.filter((each) => each.family === family).map((each) => new Option(`${each.words} (${each.name})`, each.name)));
}

// The question as the server takes it; an empty field is null, which it names.
function form() {
  const number = (id) => at(id).value === "" ? null : Number(at(id).value);
  const [kind, ...rest] = at("load").value.split(":");
  const load = {kind};
  if (kind === "described") Object.assign(load, {order: at("order").value, read_pct: valueOf(at("read_pct")), block_kib: number("block_kib")});
  if (kind === "profile") load.profile = rest.join(":");
  if (kind === "uploaded") load.upload = rest.join(":");
  else Object.assign(load, {rate: number("rate"), area_gb: number("area_gb")});
  const priced = [...drivesCompared(), ...chosen.controllers];
  return {
    load,
    growth: {rate_pct: isClosed() ? 0 : valueOf(at("rate_pct")), capacity_pct: valueOf(at("capacity_pct")), years: valueOf(at("years"))},
    goals: {p99_ms: valueOf(at("p99_ms")), usable_tb: number("usable_tb"), survives: Number(at("survives").value), budget: number("budget")},
    offers: offers() ? chosen.offers : [],
    drives: drivesCompared(),
    count_from: valueOf(at("count_from")), count_to: valueOf(at("count_to")),
    levels: offers() ? chosen.offers.map((each) => each.level) : [...document.querySelectorAll("[name=level]:checked")].map((each) => each.value),
    controllers: chosen.controllers.length ? chosen.controllers : ["none"],
    present: at("present").value, moves_tb: at("present").value ? number("moves_tb") : null,
    prices: Object.values(prices).filter((each) => priced.includes(each.device)),
    currency: at("currency").value, energy_price: number("energy_price") ?? 0, base_cost: number("base_cost") ?? 0, base_watts: number("base_watts") ?? 0,
  };
}

async function send(path, body) {
  const response = await fetch(path, body === undefined ? {} : {method: "POST", body: JSON.stringify(body)});
  const text = await response.text();
  // The door of another server answers in words.
  if (!text.startsWith("{")) throw new Error("The planner was started anew since this page was opened: open the address that it printed.");
  return JSON.parse(text);
}

// Faults stand at their fields, all at once, and the first field at fault is focused.
function showFaults(faults, focus) {
  for (const each of document.querySelectorAll(".planner .fault")) each.remove();
  for (const each of document.querySelectorAll("[aria-invalid]")) { each.removeAttribute("aria-invalid"); each.removeAttribute("aria-describedby"); }
  let first = null;
  at("faults").replaceChildren(...faults.map(({field, text}, i) => {
    const place = at({drives: "model", levels: offers() ? "offer_level" : "levels", controllers: "controller", count: "offer_count"}[field] ?? field);
    const holder = place?.closest(".field, .price, fieldset");
    if (!holder || holder.closest("[hidden]")) return element("p", {className: "fault", textContent: text});
    const control = place.matches("input, select") ? place : holder.querySelector("input, select");
    const said = element("p", {className: "fault", id: `fault-${i}`, textContent: text});
    holder.append(said);
    control.setAttribute("aria-invalid", "true");
    control.setAttribute("aria-describedby", said.id);
    first ??= control;
    const name = place.matches("fieldset") ? place.querySelector("legend") : document.querySelector(`label[for="${control.id}"]`);
    const link = element("a", {href: `#${control.id}`, textContent: name?.firstChild?.textContent.trim() ?? field});
    link.addEventListener("click", (event) => { event.preventDefault(); control.focus(); });
    return element("p", {className: "fault"}, link, `: ${text}`);
  }));
  if (faults.length) at("status").textContent = faults.length === 1 ? "One entry is not possible:" : `${faults.length} entries are not possible:`;
  if (focus) first?.focus();
}
function running(is) {
  stopping = false;
  at("stop").hidden = at("progress").hidden = !is;
  if (is) { at("progress").removeAttribute("value"); at("result-area").classList.add("stale"); }
}

// Asks, and looks how far it is until it is answered.
async function ask(focus) {
  clearTimeout(timer);
  everAsked = true;
  const own = asked = -1 - Math.abs(asked);
  running(true);
  showFaults([]);
  at("status").textContent = "Asking ...";
  try {
    const {number, wrong} = await send("/ask", {tab, form: form()});
    if (wrong) throw new Error(wrong);
    if (asked !== own) return;
    sessionStorage.setItem("planner-asked", number);
    await follow(number, focus);
  } catch (error) {
    if (asked !== own && asked < 0) return;
    running(false);
    const lost = error instanceof TypeError;
    at("status").textContent = "No answer.";
    at("faults").replaceChildren(element("p", {className: "fault", textContent: lost ? "The planner's server does not answer: start raidlab serve again. What is chosen here stays." : error.message}));
  }
}
async function follow(number, focus) {
  asked = number;
  const began = Date.now();
  let told = 0;
  while (asked === number) {
    const found = await send(`/answer/${number}`);
    if (asked !== number) return;
    if (found.wrong) throw new Error(found.wrong);
    const seconds = Math.round((Date.now() - began) / 1000);
    if (found.state === "running") {
      if (found.of) { at("progress").max = found.of; at("progress").value = found.done; }
      else at("progress").removeAttribute("value");
      const runs = `${found.done}${found.of ? ` of ${found.of}` : ""} runs, `;
      if (seconds >= told && !stopping) { told = seconds + 2; at("status").textContent = `Simulating ${found.step || "what was asked"}: ${found.step ? runs : ""}${seconds} s.`; }
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
      continue;
    }
    running(false);
    if (found.state === "wrong") showFaults(found.faults, focus);
    else if (found.state === "stopped") {
      at("status").textContent = "Stopped. What was simulated is remembered: the next answer is sooner.";
      at("ask").focus();
    } else show(found, seconds, focus);
    return;
  }
}
function show(found, seconds, focus) {
  at("result-area").classList.remove("stale");
  at("shown").innerHTML = found.html;
  draw(JSON.parse(found.plots));
  const links = found.files.map((name) => element("a", {href: `/files/${found.number}/${name}`, download: name, textContent: name}));
  const beside = found.beside.length ? `question.toml needs ${found.beside.join(", ")} beside it.` : "";
  at("downloads").replaceChildren("Download: ", ...links.flatMap((each) => [each, " "]), beside);
  at("downloads").hidden = false;
  lastTook = seconds;
  const next = seconds > SOON_S ? "After a change, press Answer." : "A control that is moved asks again.";
  at("status").textContent = `Answered within ${Math.max(1, seconds)} s${found.fits ? "" : ": none fits"}. ${next}`;
  if (focus) { at("result-area").focus(); if (window.innerWidth < 1100) at("result-area").scrollIntoView(); }
}
// What is chosen outlives a reload of this tab.
const kept = () => [...document.querySelectorAll("#form input[id]:not([type=file]), #form select[id]")].filter((each) => !each.id.startsWith("price-"));
const isHere = (name) => name === "none" || [...offered.drives, ...offered.controllers].some((each) => each.name === name);
function keep() {
  const values = Object.fromEntries(kept().map((each) => [each.id, each.value]));
  const levels = [...document.querySelectorAll("[name=level]:checked")].map((each) => each.value);
  sessionStorage.setItem("planner", JSON.stringify({values, levels, chosen, prices}));
}
function restore() {
  const found = JSON.parse(sessionStorage.getItem("planner") ?? "null");
  if (!found) return;
  for (const each of kept()) {
    const value = found.values[each.id];
    if (value !== undefined && (each.tagName !== "SELECT" || [...each.options].some((option) => option.value === value))) each.value = value;
    if (each.id === "family") showModels();
    if (each.type === "range") showSlider(each);
  }
  for (const each of document.querySelectorAll("[name=level]")) each.checked = found.levels.includes(each.value);
  for (const what of ["drives", "controllers"]) chosen[what] = found.chosen[what].filter(isHere);
  chosen.offers = found.chosen.offers.filter((each) => isHere(each.drive));
  Object.assign(prices, found.prices);
}
// After the first answer each change asks again, if that one came soon.
function changed() {
  keep();
  if (!everAsked) return;
  clearTimeout(timer);
  if (lastTook > SOON_S) {
    if (at("stop").hidden) {
      at("result-area").classList.add("stale");
      at("status").textContent = "The question has changed: press Answer.";
    }
    return;
  }
  timer = setTimeout(() => ask(false), PAUSE_MS);
}

// What a file is for: a load, a drive, the system today, or prices.
function learn(each) {
  if (each.load) {
    const value = `uploaded:${each.file}`;
    [...at("own-loads").children].find((other) => other.value === value)?.remove();
    at("own-loads").append(new Option(`${each.name}: ${each.words}`, value));
    if (each.closed) closed.add(each.file);
  } else if (each.kind === "device") {
    if (!offered.drives.some((other) => other.name === each.file)) offered.drives.push({name: each.file, family: "from your files", words: each.words});
    showFamilies();
  } else if (each.kind === "system") {
    [...at("present").children].find((other) => other.value === each.file)?.remove();
    at("present").append(new Option(each.words.replace("the present system: ", ""), each.file));
  } else {
    for (const price of each.prices) prices[price.device] = price;
  }
}
async function upload(file) {
  const item = element("li", {textContent: `${file.name}: is read ... A data sheet is simulated for a minute or more.`});
  at("uploaded").append(item);
  try {
    const {found, wrong} = await send("/upload", {name: file.name, text: await file.text()});
    if (wrong) {
      const dismiss = element("button", {type: "button", className: "quiet", textContent: "Dismiss"});
      dismiss.addEventListener("click", () => { item.remove(); at("files").focus(); });
      item.className = "fault";
      item.replaceChildren(`${wrong.startsWith(file.name) ? "" : `${file.name}: `}${wrong} `, dismiss);
      return;
    }
    item.textContent = `${found[0].name}: ${found[0].words}`;
    if (found.length > 1) item.textContent += `. Other loads from it are under "Which load".`;
    for (const each of found[0].warnings.slice(0, 3)) item.append(element("p", {className: "soft", textContent: each}));
    found.forEach(learn);
    if (found[0].load) at("load").value = `uploaded:${found[0].file}`;
    if (found[0].kind === "device" && !chosen.drives.includes(found[0].file)) chosen.drives.push(found[0].file);
    if (found[0].kind === "system") at("present").value = found[0].file;
    showLoad();
    showChosen();
    changed();
  } catch (error) {
    item.className = "fault";
    item.textContent = `${file.name}: the planner's server does not answer (${error.message})`;
  }
}

for (const input of document.querySelectorAll("input[type=range]")) { showSlider(input); input.addEventListener("input", () => { showSlider(input); changed(); }); }
for (const input of document.querySelectorAll("#form select:not(#family, #model, #controller, #offer_level), #form input:not([type=range], [type=file], #offer_count)")) input.addEventListener("change", changed);
showFamilies();
at("family").value = offered.drives.find((each) => each.name === offered.drive).family;
at("family").addEventListener("change", showModels);
showModels();
at("model").value = offered.drive;
at("controller").append(...offered.controllers.map((each) => new Option(`${each.words} (${each.family})`, each.name)));
at("add-drive").addEventListener("click", () => add("drives", at("model").value));
at("add-controller").addEventListener("click", () => add("controllers", at("controller").value));
at("load").addEventListener("change", showLoad);
at("present").addEventListener("change", showLoad);
at("compared").addEventListener("change", () => { showLoad(); showChosen(); });
at("sheet").href = `data:text/plain;charset=utf-8,${encodeURIComponent(offered.sheet)}`;
at("add-offer").addEventListener("click", addOffer);
// Its lower end, with the button that asks, stays on the screen.
function fitForm() {
  document.documentElement.style.setProperty("--above", `${Math.max(0, at("form").getBoundingClientRect().top)}px`);
}
for (const each of ["scroll", "resize"]) window.addEventListener(each, fitForm);
fitForm();
at("files").addEventListener("change", async (event) => { const own = [...event.target.files]; event.target.value = ""; await Promise.all(own.map(upload)); });
at("form").addEventListener("submit", (event) => { event.preventDefault(); ask(true); });
at("stop").addEventListener("click", () => {
  if (asked <= 0) return;
  stopping = true;
  at("status").textContent = "Stopping: the runs under way are ended ...";
  send(`/stop/${asked}`, {});
});
chosen.drives.push(offered.drive);
chosen.controllers.push("none");
// A reload of the tab keeps the files, what was chosen, and the question that was asked.
async function comeBack() {
  const {found} = await send("/uploads");
  found.forEach(learn);
  restore();
  showLoad();
  showChosen();
  const number = Number(sessionStorage.getItem("planner-asked") ?? 0);
  if (!number) return;
  everAsked = true;
  running(true);
  try { await follow(number, false); }
  catch { running(false); at("status").textContent = "The answer is no longer here: ask again."; }
}
showLoad();
showChosen();
if (sessionStorage.getItem("planner")) comeBack();
