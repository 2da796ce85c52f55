"use strict";
// Hovering over or focusing a learner highlights it everywhere; pressing its name keeps it until it is pressed again.
const classay = {};
(() => {
  const page = JSON.parse(document.getElementById("classay-page").textContent);
  classay.config = page.config;
  const numbers = new Map();
  for (const at of [0, 1]) {
    page.names.forEach((aliases, number) => {
      if (!numbers.has(aliases[at])) numbers.set(aliases[at], String(number));
    });
  }
  const marks = [];
  let lit = null;
  let kept = null;

  // The learners that a mark of a chart is about: its row of data names them.
  const whose = (mark) => {
    const datum = mark.__data__ && mark.__data__.datum;
    if (!datum) return [];
    const direct = [datum.learner, datum.other, datum.label, datum.value, datum.network, datum.title];
    return [...new Set(direct.map((name) => numbers.get(name)).filter((number) => number !== undefined))];
  };

  classay.gather = (chart) => {
    for (const mark of chart.querySelectorAll("svg path, svg text, svg line, svg rect, svg image")) {
      const about = whose(mark);
      if (about.length) marks.push([mark, about]);
    }
    show();
  };

  const show = () => {
    document.documentElement.classList.toggle("lighting", lit !== null);
    for (const element of document.querySelectorAll("[data-who]")) {
      element.classList.toggle("lit", lit !== null && element.dataset.who === lit);
    }
    for (const [mark, about] of marks) mark.classList.toggle("dim", lit !== null && !about.includes(lit));
    for (const button of document.querySelectorAll("button.who")) {
      button.setAttribute("aria-pressed", String(kept !== null && button.dataset.who === kept));
    }
  };

  const light = (number) => {
    const next = number ?? kept;
    if (next === lit) return;
    lit = next;
    show();
  };

  const under = (target) => {
    if (!(target instanceof Element)) return null;
    const about = target.closest(".chart svg") ? whose(target) : [];
    if (about.length) return about[0];
    const near = target.closest("[data-who]");
    return near ? near.dataset.who : null;
  };

  document.addEventListener("pointerover", (event) => light(under(event.target)));
  document.documentElement.addEventListener("pointerleave", () => light(null));
  document.addEventListener("focusin", (event) => light(under(event.target)));
  document.addEventListener("focusout", () => light(null));
  document.addEventListener("click", (event) => {
    const button = event.target.closest("button.who");
    if (!button) return;
    kept = kept === button.dataset.who ? null : button.dataset.who;
    lit = kept;
    show();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || kept === null) return;
    kept = lit = null;
    show();
  });
})();
