"use strict";
// Before anything is painted: what needs scripts may show, and the reader's choice of light or dark holds.
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
