// The room as a widget of a notebook: each question goes to Python, which answers it.
const LOST_S = 15;

function render({model, el}) {
  const root = document.createElement("main");
  root.innerHTML = model.get("body");
  el.append(root);
  let number = 0, waiting = null;
  model.on("change:answer", () => waiting?.(model.get("answer")));
  const ask = (question) => new Promise((resolve) => {
    const own = ++number;
    const lost = setTimeout(() => resolve({wrong: `No answer for ${LOST_S} s: the engine may be gone. Move a control to ask again, or start raidlab lab again.`}), 1000 * LOST_S);
    waiting = (answer) => {
      if (answer.number !== own) return;
      clearTimeout(lost);
      resolve(answer);
    };
    model.set("question", {...question, number: own});
    model.save_changes();
  });
  room(root, model.get("about"), ask);
}
export default {render};
