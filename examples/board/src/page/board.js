"use strict";
// Shows the parts of the page anew that have changed; without it, the page is as it was loaded.
let source;
const show = ({ data }) => {
  const { id, html, version } = JSON.parse(data);
  const part = document.getElementById(id);
  if (!part || part.dataset.version === version) return;
  const open = [...part.querySelectorAll("details[open][id]")].map((it) => it.id);
  const focused = part.contains(document.activeElement) && document.activeElement.id;
  part.innerHTML = html;
  part.dataset.version = version;
  for (const it of open) document.getElementById(it)?.setAttribute("open", "");
  if (focused) document.getElementById(focused)?.focus();
};
const follow = () => {
  source?.close();
  // A browser has few connections: a page that is not seen gives its own back.
  if (document.hidden) return;
  source = new EventSource(document.body.dataset.events);
  source.onopen = () => document.body.classList.remove("away");
  source.onerror = () => document.body.classList.add("away");
  source.addEventListener("part", show);
};
document.addEventListener("visibilitychange", follow);
addEventListener("pageshow", (event) => (event.persisted ? location.reload() : follow()));
