"use strict";
// Charts: all are drawn one after another, those near the viewport first, also within what is folded: print needs them.
(() => {
  const waiting = new Set(document.querySelectorAll(".chart"));
  if (!waiting.size) return;
  let sections = null;

  const load = () => {
    if (sections) return;
    sections = JSON.parse(document.getElementById("classay-report").textContent).sections;
    const script = document.createElement("script");
    script.textContent = document.getElementById("classay-library").textContent;
    document.head.append(script);
  };

  // Images within charts are part of the file; nothing else is ever requested.
  const nothing = () => Promise.reject(new Error("A classay page loads nothing."));
  const sanitize = (uri) => (uri.startsWith("data:image/") ? Promise.resolve({ href: uri }) : nothing());
  const loader = { load: nothing, sanitize };
  // `ast`: Vega interprets expressions itself, as the policy of the page forbids eval.
  const options = {
    mode: "vega-lite", renderer: "svg", actions: false, ast: true, tooltip: { theme: "classay" }, loader,
  };

  const draw = async (chart) => {
    if (!waiting.delete(chart)) return;
    near.unobserve(chart);
    const figure = chart.closest("figure");
    try {
      load();
      const picture = sections[chart.dataset.section].pictures[chart.dataset.picture];
      // The page shows the title, has its own colours, and accepts no options from a chart.
      const { $schema, title, config, usermeta, ...spec } = picture.spec;
      // A folded section has no width of its own.
      if (spec.hconcat && (chart.parentElement.clientWidth || document.querySelector("main").clientWidth) < 700) {
        spec.vconcat = spec.hconcat;
        delete spec.hconcat;
      }
      const place = document.createElement("div");
      await vegaEmbed(place, { ...spec, config: classay.config }, options);
      const svg = place.querySelector("svg");
      if (!svg) throw new Error("nothing was drawn");
      const wide = Number(svg.getAttribute("width"));
      svg.style.minWidth = `${Math.round(wide * 0.78)}px`;
      svg.style.maxWidth = `${wide}px`;
      svg.setAttribute("aria-hidden", "true");
      chart.replaceChildren(place);
      chart.classList.add("drawn");
      classay.gather(chart);
      classay.reach(chart.closest(".scroll"));
    } catch (error) {
      console.error(error);
      chart.classList.add("failed");
      chart.removeAttribute("role");
      chart.removeAttribute("aria-label");
      const words = document.createElement("p");
      const table = figure.querySelector(":scope > details");
      words.textContent = `This chart could not be drawn${table ? "; its data are in the table" : ""}.`;
      chart.replaceChildren(words);
      if (table) table.open = true;
    }
  };

  const near = new IntersectionObserver(
    (entries) => entries.filter((entry) => entry.isIntersecting).forEach((entry) => draw(entry.target)),
    { rootMargin: "300px" },
  );
  // By timers and not when the browser is idle: a page that is printed or captured at once never is.
  const rest = () => {
    const next = waiting.values().next().value;
    if (next) draw(next).then(() => setTimeout(rest));
  };
  const begin = () => {
    waiting.forEach((chart) => near.observe(chart));
    setTimeout(rest);
  };
  // After the first paint, which the library must not delay. A hidden page has none.
  if (document.visibilityState === "hidden") begin();
  else requestAnimationFrame(() => setTimeout(begin));
  addEventListener("beforeprint", () => waiting.forEach(draw));
})();
