"use strict";
// Tables: sort by a column, open rows, and show only the first rows of long tables at first.
(() => {
  const FIRST = 25;
  const MANY = 32;

  const own = (table) => [...table.tBodies[0].children].filter((row) => row.classList.contains("row"));
  const opened = (row) => {
    const next = row.nextElementSibling;
    return next && next.classList.contains("opens") ? next : null;
  };

  const sort = (header) => {
    const table = header.closest("table");
    const place = header.cellIndex;
    const rows = own(table).map((row) => [row, row.cells[place], opened(row)]);
    const numbers = rows.some(([, cell]) => cell.dataset.order !== undefined);
    const was = header.getAttribute("aria-sort");
    const falling = was ? was === "ascending" : numbers;
    const sign = falling ? -1 : 1;
    rows.sort(([, a], [, b]) => {
      if (!numbers) return sign * a.textContent.trim().localeCompare(b.textContent.trim(), undefined, { numeric: true });
      const missing = (a.dataset.order === undefined) - (b.dataset.order === undefined);
      return missing || sign * (a.dataset.order - b.dataset.order) || 0;
    });
    for (const [row, , below] of rows) table.tBodies[0].append(...(below ? [row, below] : [row]));
    for (const other of header.parentElement.children) other.removeAttribute("aria-sort");
    header.setAttribute("aria-sort", falling ? "descending" : "ascending");
    shorten(table);
  };

  const shorten = (table) => {
    const all = table.dataset.all === "yes";
    own(table).forEach((row, place) => row.classList.toggle("later", !all && place >= FIRST));
  };

  for (const table of document.querySelectorAll("table")) {
    const count = own(table).length;
    if (count <= MANY) continue;
    const button = document.createElement("button");
    button.type = "button";
    button.className = "plain";
    const label = () => {
      button.textContent = table.dataset.all === "yes" ? `Show the first ${FIRST} rows` : `Show all ${count} rows`;
    };
    button.addEventListener("click", () => {
      table.dataset.all = table.dataset.all === "yes" ? "no" : "yes";
      label();
      shorten(table);
    });
    label();
    shorten(table);
    table.closest(".scroll").after(button);
  }

  document.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    if (button.classList.contains("sort")) sort(button.closest("th"));
    if (button.classList.contains("open")) {
      const below = opened(button.closest("tr"));
      button.setAttribute("aria-expanded", String(below.classList.toggle("opened")));
    }
  });
  // A click anywhere on a row opens it; its button is for the keyboard and for screen readers.
  document.addEventListener("click", (event) => {
    if (event.target.closest("button, a, summary, details, .opens") || String(getSelection())) return;
    const row = event.target.closest("tr.row");
    const button = row && row.querySelector("button.open");
    if (button) button.click();
  });
})();
