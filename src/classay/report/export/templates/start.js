"use strict";
// Before the first paint: show what needs scripts, and apply the reader's choice of light or dark mode.
(() => {
  const root = document.documentElement;
  root.classList.add("js");
  try {
    const kept = localStorage.getItem("classay-theme");
    if (kept === "dark" || kept === "light") root.dataset.theme = kept;
  } catch {
    // Pages opened from a file may have no storage.
  }
})();
