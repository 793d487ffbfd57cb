// Every page works without this: it saves some steps where it runs.
"use strict";
for (const button of document.querySelectorAll("[data-copy]")) {
  if (!navigator.clipboard) break;
  button.hidden = false;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(button.dataset.copy);
    button.textContent = "Copied";
  });
}
for (const button of document.querySelectorAll("[data-all]")) {
  button.hidden = false;
  button.addEventListener("click", () => {
    for (const box of button.form.querySelectorAll(`input[name="${button.dataset.all}"]`)) box.checked = true;
  });
}
for (const button of document.querySelectorAll("[data-confirm]")) {
  button.addEventListener("click", (event) => {
    if (!confirm(button.dataset.confirm)) event.preventDefault();
  });
}
for (const time of document.querySelectorAll("time[datetime]")) {
  const at = new Date(time.dateTime);
  time.title = time.textContent;
  time.textContent = at.toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" });
}
// On narrow screens the menu begins closed.
const menu = document.querySelector("details.menu");
if (menu && matchMedia("(max-width: 56rem)").matches) menu.open = false;
const wrong = document.getElementById("wrong");
if (wrong) wrong.focus();
