// The planner's page: what is chosen becomes a question, whose answer is shown beside it.
const POLL_MS = 250;
const PAUSE_MS = 500;
const at = (id) => document.getElementById(id);
const offered = JSON.parse(at("offered").textContent);
const tab = Math.random().toString(36).slice(2);
const chosen = {drives: [], controllers: []};
const prices = {}, closed = new Set();
let asked = 0, timer = null, everAsked = false;

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
  const text = `${value.toLocaleString("en")} ${unit === "years" && value === 1 ? "year" : unit}`.trim();
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
  };
  for (const each of document.querySelectorAll("[data-for]")) each.hidden = !seen[each.dataset.for];
}

// Drives and controllers that are compared, and the prices of both.
function showChosen() {
  for (const what of ["drives", "controllers"]) {
    at(what).replaceChildren(...chosen[what].map((name) => {
      const text = name === "none" ? "the operating system" : words(name);
      const remove = element("button", {type: "button", className: "quiet", textContent: "Remove"});
      remove.setAttribute("aria-label", `Remove ${text}`);
      remove.addEventListener("click", () => {
        chosen[what] = chosen[what].filter((each) => each !== name);
        showChosen();
        (at(what).querySelector("button") ?? at(what === "drives" ? "add-drive" : "add-controller")).focus();
        changed();
      });
      return element("li", {}, element("span", {textContent: text}), remove);
    }));
  }
  const priced = [...chosen.drives, ...chosen.controllers.filter((name) => name !== "none")];
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
function showModels() {
  const family = at("family").value;
  at("model").replaceChildren(...offered.drives.filter((each) => each.family === family).map((each) => new Option(each.words, each.name)));
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
  const priced = [...chosen.drives, ...chosen.controllers];
  return {
    load,
    growth: {rate_pct: isClosed() ? 0 : valueOf(at("rate_pct")), capacity_pct: valueOf(at("capacity_pct")), years: valueOf(at("years"))},
    goals: {p99_ms: valueOf(at("p99_ms")), usable_tb: number("usable_tb"), survives: Number(at("survives").value), budget: number("budget")},
    drives: chosen.drives,
    count_from: valueOf(at("count_from")), count_to: valueOf(at("count_to")),
    levels: [...document.querySelectorAll("[name=level]:checked")].map((each) => each.value),
    controllers: chosen.controllers.length ? chosen.controllers : ["none"],
    present: at("present").value, moves_tb: at("present").value ? number("moves_tb") : null,
    prices: Object.values(prices).filter((each) => priced.includes(each.device)),
    currency: at("currency").value, energy_price: number("energy_price") ?? 0, base_cost: number("base_cost") ?? 0,
  };
}

async function send(path, body) {
  const response = await fetch(path, body === undefined ? {} : {method: "POST", body: JSON.stringify(body)});
  return response.json();
}

// Faults stand at their fields, all at once, and the first field at fault is focused.
function showFaults(faults, focus) {
  for (const each of document.querySelectorAll(".planner .fault")) each.remove();
  for (const each of document.querySelectorAll("[aria-invalid]")) { each.removeAttribute("aria-invalid"); each.removeAttribute("aria-describedby"); }
  let first = null;
  at("faults").replaceChildren(...faults.map(({field, text}, i) => {
    const place = at(field === "drives" ? "model" : field === "controllers" ? "controller" : field);
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
  at("stop").hidden = at("progress").hidden = !is;
  if (is) { at("progress").removeAttribute("value"); at("result-area").classList.add("stale"); }
  else at("result-area").classList.remove("stale");
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
        if (seconds >= told) { told = seconds + 2; at("status").textContent = `Simulating ${found.step}: ${found.done}${found.of ? ` of ${found.of}` : ""} runs, ${seconds} s.`; }
        await new Promise((resolve) => setTimeout(resolve, POLL_MS));
        continue;
      }
      running(false);
      if (found.state === "wrong") showFaults(found.faults, focus);
      else if (found.state === "stopped") at("status").textContent = "Stopped. What was simulated is remembered: the next answer is sooner.";
      else show(found, seconds, focus);
      return;
    }
  } catch (error) {
    if (asked !== own && asked < 0) return;
    running(false);
    const lost = error instanceof TypeError;
    at("status").textContent = "No answer.";
    at("faults").replaceChildren(element("p", {className: "fault", textContent: lost ? "The planner's server does not answer: start raidlab serve again. What is chosen here stays." : error.message}));
  }
}
function show(found, seconds, focus) {
  at("shown").innerHTML = found.html;
  draw(JSON.parse(found.plots));
  const links = found.files.map((name) => element("a", {href: `/files/${found.number}/${name}`, download: name, textContent: name}));
  at("downloads").replaceChildren("Download: ", ...links.flatMap((each) => [each, " "]));
  at("downloads").hidden = false;
  at("status").textContent = `${found.fits ? "Answered" : "Answered: none fits"} within ${Math.max(1, seconds)} s. A control that is moved asks again.`;
  if (focus) { at("result-area").focus(); if (window.innerWidth < 1100) at("result-area").scrollIntoView(); }
}
// After the first answer each change asks again.
function changed() {
  if (!everAsked) return;
  clearTimeout(timer);
  timer = setTimeout(() => ask(false), PAUSE_MS);
}

async function upload(file) {
  const item = element("li", {textContent: `${file.name}: is read ...`});
  at("uploaded").append(item);
  try {
    const {found, wrong} = await send("/upload", {name: file.name, text: await file.text()});
    if (wrong) { item.className = "fault"; item.textContent = wrong; return; }
    item.textContent = `${found[0].name}: ${found[0].words}`;
    if (found.length > 1) item.textContent += `. Each device can be chosen by itself under "Which load".`;
    for (const each of found[0].warnings.slice(0, 3)) item.append(element("p", {className: "soft", textContent: each}));
    for (const each of found) {
      if (each.load) {
        const value = `uploaded:${each.file}`;
        [...at("own-loads").children].find((other) => other.value === value)?.remove();
        at("own-loads").append(new Option(`${each.name}: ${each.words}`, value));
        if (each.closed) closed.add(each.file);
      } else if (each.kind === "device") {
        if (!offered.drives.some((other) => other.name === each.file)) offered.drives.push({name: each.file, family: "from your files", words: each.words});
        if (!chosen.drives.includes(each.file)) chosen.drives.push(each.file);
      } else if (each.kind === "system") {
        [...at("present").children].find((other) => other.value === each.file)?.remove();
        at("present").append(new Option(each.words.replace("the present system: ", ""), each.file));
        at("present").value = each.file;
        showLoad();
      } else {
        for (const price of each.prices) prices[price.device] = price;
      }
    }
    if (found[0].load) { at("load").value = `uploaded:${found[0].file}`; showLoad(); }
    showChosen();
    changed();
  } catch (error) {
    item.className = "fault";
    item.textContent = `${file.name}: the planner's server does not answer (${error.message})`;
  }
}

for (const input of document.querySelectorAll("input[type=range]")) { showSlider(input); input.addEventListener("input", () => { showSlider(input); changed(); }); }
for (const input of document.querySelectorAll("#form select:not(#family, #model, #controller), #form input:not([type=range], [type=file])")) input.addEventListener("change", changed);
const families = [...new Set(offered.drives.map((each) => each.family))].sort();
at("family").append(...families.map((each) => new Option(each, each)));
at("family").value = offered.drives.find((each) => each.name === offered.drive).family;
at("family").addEventListener("change", showModels);
showModels();
at("model").value = offered.drive;
at("controller").append(...offered.controllers.map((each) => new Option(`${each.words} (${each.family})`, each.name)));
at("add-drive").addEventListener("click", () => add("drives", at("model").value));
at("add-controller").addEventListener("click", () => add("controllers", at("controller").value));
at("load").addEventListener("change", showLoad);
at("present").addEventListener("change", showLoad);
at("files").addEventListener("change", async (event) => { for (const each of event.target.files) await upload(each); event.target.value = ""; });
at("form").addEventListener("submit", (event) => { event.preventDefault(); ask(true); });
at("stop").addEventListener("click", () => { if (asked > 0) send(`/stop/${asked}`, {}); });
chosen.drives.push(offered.drive);
chosen.controllers.push("none");
showLoad();
showChosen();
