"use strict";
// The page: light or dark mode, definitions, the current section, copying, and printing everything.
(() => {
  const root = document.documentElement;

  // Content wider than the page can be scrolled, also by keyboard.
  classay.reach = (box) => {
    const wide = box.scrollWidth > box.clientWidth + 1;
    for (const [name, value] of [["tabindex", "0"], ["role", "region"]]) {
      if (wide) box.setAttribute(name, value);
      else box.removeAttribute(name);
    }
    if (wide && box.dataset.label) box.setAttribute("aria-label", box.dataset.label);
    else box.removeAttribute("aria-label");
  };
  const boxes = new ResizeObserver((entries) => entries.forEach((entry) => classay.reach(entry.target)));
  document.querySelectorAll(".scroll").forEach((box) => boxes.observe(box));

  const night = matchMedia("(prefers-color-scheme: dark)");
  const toggle = document.getElementById("theme");
  const dark = () => (root.dataset.theme ? root.dataset.theme === "dark" : night.matches);
  const showTheme = () => toggle.setAttribute("aria-pressed", String(dark()));
  toggle.addEventListener("click", () => {
    root.dataset.theme = dark() ? "light" : "dark";
    try {
      localStorage.setItem("classay-theme", root.dataset.theme);
    } catch {
      // The choice is not saved.
    }
    showTheme();
  });
  night.addEventListener("change", showTheme);
  showTheme();

  // Definitions: the browser opens and closes them by click and Escape; this code places them, and opens them on hover.
  let hovered = null;
  let timer = 0;
  const noteOf = (button) => document.getElementById(button.getAttribute("popovertarget"));
  const put = (button) => {
    const note = noteOf(button);
    const at = button.getBoundingClientRect();
    const { offsetWidth: wide, offsetHeight: tall } = note;
    note.style.left = `${Math.max(8, Math.min(at.left - 12, root.clientWidth - wide - 8))}px`;
    note.style.top = `${at.bottom + 6 + tall > innerHeight && at.top > tall + 6 ? at.top - tall - 6 : at.bottom + 6}px`;
  };
  const buttons = [...document.querySelectorAll("button[popovertarget]")].filter((button) => noteOf(button)?.showPopover);
  let last = null;
  for (const button of buttons) {
    const area = button.closest("th") ?? button;
    const leave = () => {
      clearTimeout(timer);
      timer = setTimeout(() => {
        if (hovered && !noteOf(hovered).matches(":hover")) noteOf(hovered).hidePopover();
        hovered = null;
      }, 200);
    };
    area.addEventListener("pointerenter", (event) => {
      if (event.pointerType !== "mouse" || noteOf(button).matches(":popover-open")) return;
      clearTimeout(timer);
      timer = setTimeout(() => {
        if (document.querySelector(":popover-open")) return;
        last = hovered = button;
        noteOf(button).showPopover();
      }, 350);
    });
    area.addEventListener("pointerleave", leave);
    noteOf(button).addEventListener("pointerleave", leave);
    button.addEventListener("click", (event) => {
      if (hovered === button) event.preventDefault(); // it is open already, and now stays open
      hovered = null;
      last = button;
    });
  }
  for (const note of new Set(buttons.map(noteOf))) {
    note.addEventListener("toggle", (event) => {
      if (event.newState === "open" && last) put(last);
    });
  }

  const strip = document.querySelector("nav");
  const links = new Map([...document.querySelectorAll("nav a")].map((link) => [link.hash.slice(1), link]));
  const seen = new IntersectionObserver(
    (entries) => {
      for (const entry of entries) {
        if (!entry.isIntersecting) continue;
        const here = links.get(entry.target.id);
        if (!here) continue;
        links.forEach((link) => link.removeAttribute("aria-current"));
        here.setAttribute("aria-current", "true");
        strip.scrollLeft = here.offsetLeft - 60;
      }
    },
    { rootMargin: "-15% 0px -75% 0px" },
  );
  document.querySelectorAll("main section[id]").forEach((section) => seen.observe(section));

  for (const button of document.querySelectorAll("button.copy")) {
    button.addEventListener("click", async () => {
      const code = button.parentElement.querySelector("code");
      try {
        await navigator.clipboard.writeText(code.textContent);
        button.textContent = "Copied";
      } catch {
        getSelection().selectAllChildren(code);
        button.textContent = "Selected";
      }
      setTimeout(() => (button.textContent = "Copy"), 2000);
    });
  }

  // A link into what is folded opens it.
  const unfold = () => {
    const target = location.hash && document.getElementById(location.hash.slice(1));
    const fold = target && (target.querySelector(":scope > .fold") ?? target.closest(".fold"));
    if (fold) fold.open = true;
  };
  addEventListener("hashchange", unfold);
  document.querySelectorAll("nav a").forEach((link) => link.addEventListener("click", () => setTimeout(unfold)));
  unfold();

  let closed = [];
  addEventListener("beforeprint", () => {
    closed = [...document.querySelectorAll("details:not([open])")];
    closed.forEach((details) => (details.open = true));
  });
  addEventListener("afterprint", () => closed.forEach((details) => (details.open = false)));
})();
