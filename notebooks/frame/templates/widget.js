// The room as a widget of a notebook: each question goes to Python, which answers it.
const LOST_S = 15;
const LOST_IN_A_STEP_S = 120;

function render({model, el}) {
  const root = document.createElement("main");
  root.innerHTML = model.get("body");
  el.append(root);
  let number = 0, waiting = null, heard = null;
  model.on("change:answer", () => waiting?.(model.get("answer")));
  model.on("change:progress", () => heard?.(model.get("progress")));
  const ask = (question, progress, late) => new Promise((resolve) => {
    const own = ++number;
    let lost = null, given = false;
    const expect = (seconds) => {
      clearTimeout(lost);
      lost = setTimeout(() => {
        given = true;
        resolve({wrong: `No answer for ${seconds} s: the engine may be gone. Move a control to ask again, or start raidlab lab again.`});
      }, 1000 * seconds);
    };
    expect(LOST_S);
    heard = ({number, done, of}) => {
      if (number !== own) return;
      expect(LOST_IN_A_STEP_S);
      if (of) progress(done, of);
    };
    waiting = (answer) => {
      if (answer.number !== own) return;
      clearTimeout(lost);
      if (given) late?.(answer);  // The engine was slow, not gone.
      resolve(answer);
    };
    model.set("question", {...question, number: own});
    model.save_changes();
  });
  room(root, model.get("about"), ask);
}
export default {render};
