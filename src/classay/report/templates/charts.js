"use strict";
// Charts: drawn when they come near, the rest when the browser has time. The library is read only for the first one.
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

  // Pictures within charts are part of the file; nothing else is ever asked for.
  const nothing = () => Promise.reject(new Error("A page of classay loads nothing."));
  const sanitize = (uri) => (uri.startsWith("data:image/") ? Promise.resolve({ href: uri }) : nothing());
  const loader = { load: nothing, sanitize };
  // `ast`: its own interpreter of expressions, as the page lets nobody make code of text.
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
      // The page says the title, has its own colours, and takes no options from a chart.
      const { $schema, title, config, usermeta, ...spec } = picture.spec;
      if (spec.hconcat && chart.parentElement.clientWidth < 700) {
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
      words.textContent = `This chart could not be drawn${table ? "; here are its figures" : ""}.`;
      chart.replaceChildren(words);
      if (table) table.open = true;
    }
  };

  const near = new IntersectionObserver(
    (entries) => entries.filter((entry) => entry.isIntersecting).forEach((entry) => draw(entry.target)),
    { rootMargin: "300px" },
  );
  const idle = window.requestIdleCallback ?? ((call) => setTimeout(call, 50));
  const rest = () => {
    const next = waiting.values().next().value;
    if (next) draw(next).then(() => idle(rest));
  };
  // After the first paint, which the library must not hold up.
  requestAnimationFrame(() => setTimeout(() => {
    waiting.forEach((chart) => near.observe(chart));
    idle(rest);
  }));
  addEventListener("beforeprint", () => waiting.forEach(draw));
})();
