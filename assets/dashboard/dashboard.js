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
  for (const time of root.querySelectorAll("time[datetime]")) {
    const at = new Date(time.dateTime);
    time.title = time.textContent;
    time.textContent = at.toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" });
  }
  const live = root.dataset?.live ? [root] : root.querySelectorAll("[data-live]");
  for (const part of live) setTimeout(() => renew(part.id, location.href), Number(part.dataset.live));
  for (const form of root.querySelectorAll("form[data-search]")) search(form);
}
// Put the element of this id as it is at this address in the place of the one that is here.
async function renew(id, address) {
  const old = document.getElementById(id);
  if (!old) return;
  try {
    const answer = await fetch(address, { headers: { accept: "text/html" } });
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const fresh = page.getElementById(id);
    // Signed out, or the page has become another one: show that.
    if (!fresh) return location.reload();
    // What was opened stays open.
    for (const part of old.querySelectorAll("details[id][open]")) fresh.querySelector(`#${part.id}`)?.setAttribute("open", "");
    old.replaceWith(fresh);
    wire(fresh);
  } catch {
    // The server is away for a moment: look again.
    if (old.dataset.live) setTimeout(() => renew(id, address), 3000);
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
wire(document);
// On narrow screens the menu begins closed.
const menu = document.querySelector("details.menu");
if (menu && matchMedia("(max-width: 56rem)").matches) menu.open = false;
const wrong = document.getElementById("wrong");
if (wrong) wrong.focus();
