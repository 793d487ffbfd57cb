// This script is optional: it adds copy buttons, remembers the language of the samples, and searches while the user types.
"use strict";
if (navigator.clipboard) {
  for (const block of document.querySelectorAll("article pre")) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = "Copy";
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(block.querySelector("code").textContent);
      button.textContent = "Copied";
      setTimeout(() => (button.textContent = "Copy"), 2000);
    });
    block.append(button);
  }
}

const KEY = "mailmill-docs-language";
function choose(language) {
  for (const input of document.querySelectorAll(".samples input")) if (input.value === language) input.checked = true;
}
try {
  choose(localStorage.getItem(KEY));
} catch {
  // Without local storage, no language is remembered from earlier pages.
}
addEventListener("change", ({ target }) => {
  const group = target.closest?.(".samples");
  if (!group) return;
  const top = group.getBoundingClientRect().top;
  choose(target.value);
  // Samples above may have changed in height; scrolling keeps this group in its place.
  scrollBy(0, group.getBoundingClientRect().top - top);
  try {
    localStorage.setItem(KEY, target.value);
  } catch {
    // Without local storage, the chosen language applies only to this page.
  }
});

const field = document.getElementById("q");
const page = document.getElementById("results");
let panel = page;
let waits;
// Creates the panel for the results below the search field. The search page shows the results in the page itself.
function place() {
  if (panel) return;
  panel = document.createElement("div");
  panel.id = "results";
  panel.className = "live-results";
  panel.setAttribute("aria-live", "polite");
  field.form.append(panel);
}
async function search() {
  const query = field.value.trim();
  place();
  panel.hidden = !query && !page;
  if (!query) return;
  const url = `/docs/search?q=${encodeURIComponent(query)}`;
  const response = await fetch(url);
  if (!response.ok || query !== field.value.trim()) return;
  const found = new DOMParser().parseFromString(await response.text(), "text/html");
  panel.replaceChildren(...found.getElementById("results").childNodes);
  if (page) history.replaceState(null, "", url);
}
field.addEventListener("input", () => {
  clearTimeout(waits);
  waits = setTimeout(search, 150);
});
addEventListener("keydown", (event) => {
  if (event.key === "Escape" && panel && !page) panel.hidden = true;
  if (event.key !== "/" || event.target.closest("input, textarea, select")) return;
  event.preventDefault();
  field.focus();
});
