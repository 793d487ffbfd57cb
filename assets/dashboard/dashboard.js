// Every page works without this: it saves some steps where it runs.
"use strict";
// What belongs to elements; also for those that come later.
function wire(root) {
  for (const button of root.querySelectorAll("[data-copy]")) {
    if (!navigator.clipboard) break;
    button.hidden = false;
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(button.dataset.copy);
      button.textContent = "Copied";
    });
  }
  for (const button of root.querySelectorAll("[data-all]")) {
    button.hidden = false;
    button.addEventListener("click", () => {
      for (const box of button.form.querySelectorAll(`input[name="${button.dataset.all}"]`)) box.checked = true;
    });
  }
  for (const button of root.querySelectorAll("[data-confirm]")) {
    button.addEventListener("click", (event) => {
      if (!confirm(button.dataset.confirm)) event.preventDefault();
    });
  }
  // A button that says what goes on after it was pressed, and is not pressed twice.
  for (const button of root.querySelectorAll("[data-busy]")) {
    button.form?.addEventListener("submit", (event) => {
      if (event.submitter !== button) return;
      // The form is on its way with the button's own value first.
      setTimeout(() => {
        button.disabled = true;
        button.textContent = button.dataset.busy;
      });
    });
  }
  // An example that one takes over.
  for (const button of root.querySelectorAll("[data-fill]")) {
    button.hidden = false;
    button.addEventListener("click", () => {
      const field = document.getElementById(button.dataset.fill);
      field.value = button.textContent;
      field.focus();
    });
  }
  for (const time of root.querySelectorAll("time[datetime]")) {
    const at = new Date(time.dateTime), day = { day: "numeric", month: "short", hour: "numeric", minute: "2-digit" };
    time.title = time.textContent;
    // The year goes without saying where it is this one.
    if (at.getFullYear() !== new Date().getFullYear()) day.year = "numeric";
    time.textContent = at.toLocaleString(undefined, day);
  }
  const live = root.dataset?.live ? [root] : root.querySelectorAll("[data-live]");
  for (const part of live) setTimeout(() => renew(part.id, location.href), Number(part.dataset.live));
  for (const form of root.querySelectorAll("form[data-search]")) search(form);
  for (const form of root.querySelectorAll("form[data-preview]")) preview(form);
  for (const row of root.querySelectorAll("[data-again]")) again(row);
  // What takes a moment to find out is fetched behind the page.
  for (const part of root.querySelectorAll("[data-load]")) renew(part.id, part.dataset.load);
  for (const choice of root.querySelectorAll("[data-go]")) {
    for (const button of choice.form.querySelectorAll("button")) button.hidden = true;
    choice.addEventListener("change", () => choice.form.requestSubmit());
  }
}
// Put the element of this id as it is at this address in the place of the one that is here.
async function renew(id, address) {
  const old = document.getElementById(id);
  if (!old) return;
  try {
    const answer = await fetch(address, { headers: { accept: "text/html" } });
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const fresh = page.getElementById(id);
    // Too much was asked, or the server is not well: that passes.
    if (answer.status === 429 || answer.status > 499) throw answer;
    // Signed out, or the page has become another one: show that.
    if (!fresh) return location.reload();
    // Who is on a button stays on it.
    const focused = old.contains(document.activeElement) ? document.activeElement.id : "";
    // What was opened stays open.
    for (const part of old.querySelectorAll("details[id][open]")) fresh.querySelector(`#${part.id}`)?.setAttribute("open", "");
    old.replaceWith(fresh);
    wire(fresh);
    if (focused) document.getElementById(focused)?.focus();
  } catch {
    // The server is away for a moment: look again.
    if (old.dataset.live) setTimeout(() => renew(id, address), 5000);
  }
}
// A form that searches as one types.
function search(form) {
  let timer, asked = 0;
  form.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(async () => {
      const mine = ++asked;
      const address = `${form.getAttribute("action") || location.pathname}?${new URLSearchParams(new FormData(form))}`;
      const answer = await fetch(address, { headers: { accept: "text/html" } }).catch(() => null);
      if (!answer || mine !== asked) return;
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const id = form.dataset.search, fresh = page.getElementById(id);
      if (!fresh || mine !== asked) return;
      document.getElementById(id).replaceWith(fresh);
      wire(fresh);
      history.replaceState(null, "", address);
    }, 200);
  });
}
// Where one is, unless something else was said.
for (const field of document.querySelectorAll("input[data-zone]")) {
  field.value ||= Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC";
}
// The last of some rows with the same fields: when something is written there, another one follows.
function again(row) {
  row.addEventListener("input", () => {
    const next = row.cloneNode(true);
    for (const field of next.querySelectorAll("input")) {
      field.value = "";
      field.removeAttribute("id");
    }
    row.removeAttribute("data-again");
    row.after(next);
    again(next);
  }, { once: true });
}
// A form that shows what it comes to while one writes it: the part that tells, and the part that holds its rows, come from its answer.
function preview(form) {
  let timer, asked = 0;
  const { preview: told, rows } = form.dataset;
  async function ask(act, ...parts) {
    clearTimeout(timer);
    const mine = ++asked, fields = new URLSearchParams(new FormData(form));
    fields.set("do", act);
    document.getElementById(told).setAttribute("aria-busy", "true");
    const answer = await fetch(location.href, { method: "POST", body: fields, headers: { accept: "text/html" } }).catch(() => null);
    if (!answer || mine !== asked) return;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    for (const id of parts) {
      const old = document.getElementById(id), fresh = page.getElementById(id);
      if (!fresh || mine !== asked) return;
      const place = old.contains(document.activeElement) ? [...old.querySelectorAll("select, input, button")].indexOf(document.activeElement) : -1;
      old.replaceWith(fresh);
      wire(fresh);
      if (place >= 0) [...fresh.querySelectorAll("select, input, button")][place]?.focus();
    }
    if (act !== "count") await ask("count", told);
  }
  form.addEventListener("input", (event) => {
    clearTimeout(timer);
    if (event.target.matches("[data-redraw]")) return ask("redraw", rows);
    if (event.target.closest(`#${rows}`)) timer = setTimeout(() => ask("count", told), 400);
  });
  form.addEventListener("click", (event) => {
    const button = event.target.closest("[data-press]");
    if (!button) return;
    event.preventDefault();
    ask(button.value, rows);
  });
  ask("count", told);
}
wire(document);
// On narrow screens the menu begins closed.
const menu = document.querySelector("details.menu");
if (menu && matchMedia("(max-width: 56rem)").matches) menu.open = false;
const wrong = document.querySelector("[data-wrong]");
if (wrong) wrong.focus();
