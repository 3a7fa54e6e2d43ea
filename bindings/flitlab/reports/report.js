// The scopes of a report. One scope is open at a time; it is made when its button is pressed.

const place = document.getElementById("scope-place");
let opened = null; // { button, scope } of the open scope

function close_scope() {
  if (!opened) return;
  opened.scope.close();
  opened.button.setAttribute("aria-expanded", "false");
  opened.button.closest("tr").classList.remove("open");
  opened = null;
  place.replaceChildren();
}

async function open_scope(button) {
  const again = opened?.button === button;
  close_scope();
  if (again) return;
  const title = document.createElement("h3"), close = document.createElement("button"), el = document.createElement("div");
  title.textContent = `${button.dataset.title} `;
  close.textContent = "close";
  close.addEventListener("click", () => {
    close_scope();
    button.focus();
  });
  title.append(close);
  place.replaceChildren(title, el);
  const scope = await show_page(el, document.getElementById(button.dataset.recording).textContent);
  if (!el.isConnected) return scope.close(); // another button was pressed meanwhile
  opened = { button, scope };
  button.setAttribute("aria-expanded", "true");
  button.closest("tr").classList.add("open");
  place.scrollIntoView({ block: "start" });
  scope.command("first");
  if (!matchMedia("(prefers-reduced-motion: reduce)").matches) scope.play(true);
}

for (const button of document.querySelectorAll("button[data-recording]"))
  button.addEventListener("click", () => open_scope(button));
