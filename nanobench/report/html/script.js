"use strict";
// The list of runs, the filters and the way to one run. All of it stands in the address, after #.

const byId = (id) => document.getElementById(id);
const index = JSON.parse(byId("index").textContent);
const runs = index.rows.map((row) => {
  const run = Object.fromEntries(index.columns.map((name, number) => [name, row[number]]));
  run.model = index.models[run.model];
  run.task = index.tasks[run.task];
  run.words = [run.id, run.model, run.task, run.result, run.why, run.flags].join(" ").toLowerCase();
  return run;
});
const FILTERS = ["model", "task", "mode", "result", "text"];
const PAGE = 100;
const ANY_FAILURE = "failed";
const UNGRADED = ["missing", "infrastructure"];
const SIGNS = { solved: "●", infrastructure: "!", missing: "–" };
const form = byId("filters");
let shown = PAGE;
let found = runs;

/** An element with attributes and children; text is only ever text. */
function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children.filter((child) => child !== null && child !== ""));
  return made;
}

const state = () => new URLSearchParams(location.hash.slice(1));

function address(changes) {
  const next = state();
  for (const [name, value] of Object.entries(changes)) {
    if (value) next.set(name, value);
    else next.delete(name);
  }
  return `#${next}`;
}

function failed(run) {
  return run.result !== "solved" && !UNGRADED.includes(run.result);
}

function matches(run, wanted) {
  return (
    (!wanted.model || run.model === wanted.model) &&
    (!wanted.task || run.task === wanted.task) &&
    (!wanted.mode || run.mode === wanted.mode) &&
    (!wanted.result ||
      run.result === wanted.result ||
      (wanted.result === ANY_FAILURE && failed(run))) &&
    (!wanted.text || run.words.includes(wanted.text.toLowerCase()))
  );
}

/** Wilson's 95 % interval of a rate, in per cent. */
function interval(solved, graded) {
  const z = 1.959963984540054;
  const rate = solved / graded;
  const middle = (rate + (z * z) / (2 * graded)) / (1 + (z * z) / graded);
  const half =
    (z / (1 + (z * z) / graded)) *
    Math.sqrt((rate * (1 - rate)) / graded + (z * z) / (4 * graded * graded));
  return [middle - half, middle + half].map((end) => Math.round(100 * end));
}

function counted() {
  const graded = found.filter((run) => !UNGRADED.includes(run.result));
  const solved = graded.filter((run) => run.result === "solved").length;
  const told = `${found.length} of ${runs.length} runs`;
  if (!graded.length) return `${told}, none of them graded.`;
  const [low, high] = interval(solved, graded.length);
  const rate = ((100 * solved) / graded.length).toFixed(1);
  return `${told}; ${solved} of ${graded.length} graded ones solved: ${rate} % (${low} to ${high}).`;
}

function sign(run) {
  return SIGNS[run.result] ?? { 0.5: "◐", 0.1: "◔" }[run.score] ?? "○";
}

function title(run) {
  return `${run.model} · ${run.task} · ${run.mode} · run ${run.run}`;
}

function line(run) {
  const told = run.score === null ? run.result : `${run.score} ${run.result}`;
  return element(
    "li",
    {},
    element("i", { class: `r-${run.result}`, "aria-hidden": "true" }, sign(run)),
    element("a", { href: address({ run: run.id, at: "" }) }, title(run)),
    element("span", {}, told),
    element("span", { class: "aside" }, run.tests && `${run.tests} tests`),
    element("span", { class: "aside" }, [run.why, run.flags].filter(Boolean).join(" · ")),
  );
}

function list() {
  byId("list").replaceChildren(...found.slice(0, shown).map(line));
  const rest = found.length - shown;
  byId("more").hidden = rest <= 0;
  byId("more").textContent = `Show ${Math.min(rest, PAGE)} more of ${rest}`;
}

function narrowMatrix(wanted) {
  for (const table of document.querySelectorAll(".matrix")) {
    const gone = [...table.tHead.rows[0].cells].map(
      ({ dataset }) =>
        Boolean(dataset.model) &&
        ((wanted.model && wanted.model !== dataset.model) ||
          (wanted.mode && wanted.mode !== dataset.mode)),
    );
    for (const row of table.rows) {
      row.hidden = Boolean(row.dataset.task && wanted.task && wanted.task !== row.dataset.task);
      if (!row.hidden) [...row.cells].forEach((cell, number) => (cell.hidden = gone[number]));
    }
  }
}

let last = null;

/** Make the page show what the address says. */
function follow() {
  const now = state();
  const wanted = Object.fromEntries(FILTERS.map((name) => [name, now.get(name) ?? ""]));
  const key = JSON.stringify(wanted);
  if (key !== last) {
    last = key;
    shown = PAGE;
    for (const name of FILTERS) if (form.elements[name].value !== wanted[name]) form.elements[name].value = wanted[name];
    found = runs.filter((run) => matches(run, wanted));
    byId("count").textContent = counted();
    narrowMatrix(wanted);
    list();
  }
  showRun(runs.find((run) => run.id === now.get("run")));
  const target = now.get("at") && byId(now.get("at"));
  if (target) {
    target.scrollIntoView();
    target.focus({ preventScroll: true });
  }
}

function go(hash, replace = false) {
  history[replace ? "replaceState" : "pushState"](null, "", hash);
  follow();
}

function options(name, values) {
  form.elements[name].append(...values.map((value) => element("option", { value }, value)));
}

function setUp() {
  const results = [...new Set(runs.map((run) => run.result))].sort();
  options("model", index.models);
  options("task", index.tasks);
  options("mode", [...new Set(runs.map((run) => run.mode))].sort());
  options("result", [...(runs.some(failed) ? [ANY_FAILURE] : []), ...results]);
  form.hidden = false;
  byId("bare").remove();
  let pause;
  form.addEventListener("input", () => {
    clearTimeout(pause);
    const change = () =>
      go(address({ ...Object.fromEntries(new FormData(form)), run: "", at: "" }), true);
    pause = setTimeout(change, 150);
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", (event) => {
    event.preventDefault();
    go(address(Object.fromEntries([...FILTERS, "at"].map((name) => [name, ""]))));
  });
  byId("more").addEventListener("click", () => {
    const first = shown;
    shown += PAGE;
    list();
    byId("list").children[first]?.querySelector("a").focus();
  });
  // A link to a part of the page must not wipe the filters out of the address.
  document.addEventListener("click", (event) => {
    const link = event.target.closest?.("a[href^='#']");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    const to = link.getAttribute("href").slice(1);
    const run = new URLSearchParams(to).get("run");
    if (run) go(address({ run, at: "" }));
    else go(to.includes("=") ? `#${to}` : address({ at: to, run: "" }));
  });
  addEventListener("popstate", follow);
  addEventListener("hashchange", follow);
}
