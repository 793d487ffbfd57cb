// This script is optional: every page works without JavaScript.
"use strict";
// Adds behavior to the elements below `root`, which is the page or a part loaded later.
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
  // If a user double-clicks, the form is submitted only once.
  for (const form of root.querySelectorAll("form[method=post]")) {
    form.addEventListener("submit", (event) => {
      if (form.dataset.sent) return event.preventDefault();
      form.dataset.sent = "yes";
      setTimeout(() => delete form.dataset.sent, 3000);
    });
  }
  // After a click, a button with `data-busy` shows the attribute's value as its label and cannot be clicked again.
  for (const button of root.querySelectorAll("[data-busy]")) {
    button.form?.addEventListener("submit", (event) => {
      if (event.submitter !== button || event.defaultPrevented) return;
      // A disabled button would not submit its value, so the button is disabled after the submission.
      setTimeout(() => {
        button.dataset.idle = button.textContent;
        button.disabled = true;
        button.textContent = button.dataset.busy;
      });
    });
  }
  // A click on a button with `data-fill` copies the button's text into the field whose ID is the attribute's value.
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
    // The year is shown only if it is not the current one.
    if (at.getFullYear() !== new Date().getFullYear()) day.year = "numeric";
    time.textContent = at.toLocaleString(undefined, day);
  }
  const live = root.dataset?.live ? [root] : root.querySelectorAll("[data-live]");
  for (const part of live) setTimeout(() => renew(part.id, location.href), Number(part.dataset.live));
  for (const form of root.querySelectorAll("form[data-search]")) search(form);
  for (const form of root.querySelectorAll("form[data-preview]")) preview(form);
  for (const row of root.querySelectorAll("[data-again]")) again(row);
  // The slow parts of a page are loaded after the page itself.
  for (const part of root.querySelectorAll("[data-load]")) renew(part.id, part.dataset.load);
  for (const choice of root.querySelectorAll("[data-go]")) {
    for (const button of choice.form.querySelectorAll("button")) button.hidden = true;
    choice.addEventListener("change", () => choice.form.requestSubmit());
  }
}
// Replaces the element with this ID with the current version from the page at `address`.
async function renew(id, address) {
  const old = document.getElementById(id);
  if (!old) return;
  try {
    const answer = await fetch(address, { headers: { accept: "text/html" } });
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const fresh = page.getElementById(id);
    // Rate limits and server errors are temporary; the `catch` block retries the request.
    if (answer.status === 429 || answer.status > 499) throw answer;
    // If the element is missing, the user was signed out, or the page has changed.
    if (!fresh) return location.reload();
    // Keeps the keyboard focus on the same control.
    const focused = old.contains(document.activeElement) ? document.activeElement.id : "";
    // Keeps open `<details>` elements open.
    for (const part of old.querySelectorAll("details[id][open]")) fresh.querySelector(`#${part.id}`)?.setAttribute("open", "");
    old.replaceWith(fresh);
    wire(fresh);
    if (focused) document.getElementById(focused)?.focus();
  } catch {
    // The server may be temporarily unavailable, so an element that refreshes itself tries again.
    if (old.dataset.live) setTimeout(() => renew(id, address), 5000);
  }
}
// Updates the results of a search form while the user types.
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
// Empty fields for a time zone get the browser's time zone.
for (const field of document.querySelectorAll("input[data-zone]")) {
  field.value ||= Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC";
}
// Appends an empty row with the same fields when the user types in the last row.
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
// Updates the preview of a form while the user edits the form. The response contains the new preview and the new rows of the form.
function preview(form) {
  let timer, asked = 0;
  const { preview: shown, rows } = form.dataset;
  async function ask(act, ...parts) {
    clearTimeout(timer);
    const mine = ++asked, fields = new URLSearchParams(new FormData(form));
    fields.set("do", act);
    document.getElementById(shown).setAttribute("aria-busy", "true");
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
    if (act !== "count") await ask("count", shown);
  }
  form.addEventListener("input", (event) => {
    clearTimeout(timer);
    if (event.target.matches("[data-redraw]")) return ask("redraw", rows);
    if (event.target.closest(`#${rows}`)) timer = setTimeout(() => ask("count", shown), 400);
  });
  form.addEventListener("click", (event) => {
    const button = event.target.closest("[data-press]");
    if (!button) return;
    event.preventDefault();
    ask(button.value, rows);
  });
  ask("count", shown);
}
// Keeps each color picker and its text field in sync, and shows the unsaved values in a preview.
function theme(form) {
  const frame = document.getElementById(form.dataset.theme);
  let timer;
  form.addEventListener("input", (event) => {
    const { name, value } = event.target;
    const other = form.elements[name.startsWith("pick.") ? name.slice(5) : `pick.${name}`];
    if (name.startsWith("pick.")) other.value = value.toUpperCase();
    else if (other && /^#[0-9a-f]{6}$/i.test(value)) other.value = value.toLowerCase();
    clearTimeout(timer);
    timer = setTimeout(() => {
      const shown = new URLSearchParams();
      for (const [field, text] of new FormData(form)) {
        const part = field.split(".").pop();
        const isColor = field.startsWith("palette."), isShown = isColor ? /^#[0-9a-f]{6}$/i.test(text) : text;
        if (/^(palette|fonts)[.]|^cornerRadius$/.test(field) && isShown) shown.set(part, text);
      }
      frame.src = `${frame.dataset.src}?${shown}`;
    }, 250);
  });
}
for (const form of document.querySelectorAll("form[data-theme]")) theme(form);
wire(document);
// The Back button can restore a page with disabled buttons, so they are enabled again.
addEventListener("pageshow", (event) => {
  if (!event.persisted) return;
  for (const button of document.querySelectorAll("[data-idle]")) {
    button.disabled = false;
    button.textContent = button.dataset.idle;
  }
});
// On narrow screens, the menu is initially closed.
const menu = document.querySelector("details.menu");
if (menu && matchMedia("(max-width: 56rem)").matches) menu.open = false;
const wrong = document.querySelector("[data-wrong]");
if (wrong) wrong.focus();
