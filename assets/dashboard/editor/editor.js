// The email editor. It replaces the page's forms with the email itself: users edit text directly, move blocks by dragging or with
// buttons, and changes are saved automatically. ProseMirror (`prosemirror.min.js`) edits rich text.
"use strict";
(async () => {
  const root = document.getElementById("editor");
  if (!root || !window.ProseMirror) return;
  const asked = await fetch(root.dataset.editor, { headers: { accept: "application/json" } }).catch(() => null);
  // Without its data, the editor leaves the page's forms unchanged.
  if (!asked?.ok) return;
  const { EditorState, EditorView, Schema, baseKeymap, chainCommands, keymap, toggleMark } = window.ProseMirror;
  const data = await asked.json(), kinds = new Map(data.kinds.map((kind) => [kind.name, kind]));
  const copy = (value) => structuredClone(value), same = (a, b) => JSON.stringify(a) === JSON.stringify(b);
  let doc = data.document, saved = copy(doc), version = data.version, selected = "", drawn = [], focused = null;

  // Creates an element. Fields whose value is a function become event listeners.
  function h(tag, fields = {}, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(fields)) {
      if (value === false || value === undefined || value === null) continue;
      if (typeof value === "function") made.addEventListener(name, value);
      else if (name in made && (typeof value !== "string" || name === "value")) made[name] = value;
      else made.setAttribute(name, value === true ? "" : value);
    }
    made.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
    return made;
  }
  const button = (label, click, fields = {}) => h("button", { type: "button", click, ...fields }, label);

  // --- Paths and blocks ---

  const at = (json, path) => path.split(".").reduce((part, name) => part?.[name], json);
  function put(json, path, value) {
    const names = path.split("."), last = names.pop();
    let part = json;
    for (const name of names) part = part[name] ??= {};
    // An emptied table cell stays, because each row has the same number of cells.
    if (Array.isArray(part)) part[last] = value ?? "";
    else if (value === "" || value === undefined || value === null) delete part[last];
    else part[last] = value;
    // Deletes an image without a file, and a button without a label and a link.
    for (const [name, fields] of [["image", ["src"]], ["button", ["label", "href"]]]) {
      if (names[0] === name && fields.every((field) => !json[name]?.[field])) delete json[name];
    }
  }
  const lists = () => [doc.blocks, ...doc.blocks.flatMap((block) => (block.columns ?? []).map((column) => column.blocks))];
  const listOf = (id) => lists().find((list) => list.some((block) => block.id === id));
  const blockOf = (id) => lists().flat().find((block) => block.id === id);
  function name(block) {
    const taken = new Set(lists().flat().map((other) => other.id));
    const free = (type) => {
      let number = 1;
      while (taken.has(`${type}-${number}`)) number += 1;
      taken.add(`${type}-${number}`);
      return `${type}-${number}`;
    };
    block.id = free(block.type);
    for (const cell of (block.columns ?? []).flatMap((column) => column.blocks)) cell.id = free(cell.type);
    return block;
  }

  // --- Undo and redo: each step stores the whole document, because documents are small ---

  const past = [], future = [], STEPS = 200;
  let lastKey = "", lastAt = 0;
  // Remembers the document for undo before a change. Typing in one field is a single step until the user pauses for a second.
  function remember(key = "") {
    const now = Date.now();
    if (!key || key !== lastKey || now - lastAt > 1000) past.push(JSON.stringify(doc));
    if (past.length > STEPS) past.shift();
    [lastKey, lastAt] = [key, now];
    future.length = 0;
  }
  function travel(from, to) {
    if (!from.length) return;
    to.push(JSON.stringify(doc));
    doc = JSON.parse(from.pop());
    lastKey = "";
    changed();
    draw();
  }
  const undo = () => travel(past, future), redo = () => travel(future, past);

  // --- Saving ---

  let timer, saving = null, conflict = false, shown = 0;
  const status = h("p", { class: "editor-status", role: "status" }, "All changes saved");
  function say(text, bad = false) {
    status.textContent = text;
    status.classList.toggle("bad", bad);
  }
  function changed() {
    undoButton.disabled = !past.length;
    redoButton.disabled = !future.length;
    if (conflict) return;
    say("Editing…");
    clearTimeout(timer);
    timer = setTimeout(save, 800);
  }
  // Returns the operations that change the document `before` into `after`.
  function operations(before, after) {
    const made = [];
    for (const field of ["subject", "preheader", "style"]) {
      if (!same(before[field], after[field])) made.push({ op: "set", path: field, value: after[field] ?? "" });
    }
    const ids = after.blocks.map((block) => block.id), order = before.blocks.map((block) => block.id).filter((id) => ids.includes(id));
    const old = new Map(before.blocks.map((block) => [block.id, block]));
    for (const id of old.keys()) if (!ids.includes(id)) made.push({ op: "remove", id });
    after.blocks.forEach((block, index) => {
      const previous = ids[index - 1];
      if (!old.has(block.id)) {
        made.push({ op: "insert", after: previous, value: block });
        order.splice(index, 0, block.id);
        return;
      }
      if (order[index] !== block.id) {
        made.push({ op: "move", id: block.id, after: previous });
        order.splice(order.indexOf(block.id), 1);
        order.splice(index, 0, block.id);
      }
      if (!same(old.get(block.id), block)) made.push({ op: "set", path: `blocks.${block.id}`, value: block });
    });
    return made;
  }
  // Saves the changes. While a save is in progress, returns that save.
  function save() {
    clearTimeout(timer);
    saving ??= send().finally(() => (saving = null));
    return saving;
  }
  async function send() {
    if (conflict) return;
    const sent = copy(doc), wanted = operations(saved, sent);
    if (!wanted.length) {
      if (status.textContent === "Editing…") say("All changes saved");
      return;
    }
    say("Saving…");
    const body = new URLSearchParams({ csrf: root.dataset.csrf, act: "save", version, operations: JSON.stringify(wanted) });
    const answer = await fetch(root.dataset.editor, { method: "POST", body, headers: { accept: "application/json" } }).catch(() => null);
    const told = await answer?.json().catch(() => null);
    if (answer?.ok && told) {
      [saved, version] = [sent, told.version];
      problems([]);
      say("All changes saved");
      text.textContent = told.text;
      warn(told.warnings);
      if (!same(doc, sent)) timer = setTimeout(save, 800);
    } else if (told?.code === "VERSION_CONFLICT") {
      conflict = true;
      say("Not saved", true);
      notice.hidden = false;
      notice.dataset.version = told.version;
    } else if (answer?.status === 400 && told) {
      problems(told.problems);
      say(`Not saved. ${told.problems[0]?.message ?? told.message}`, true);
      // The user may have corrected the problem in the meantime.
      if (!same(doc, sent)) timer = setTimeout(save, 800);
    } else if (answer && answer.status < 500 && answer.status !== 429) {
      say(`Not saved. ${told?.message ?? "Reload the page and try again."}`, true);
    } else {
      say("Not saved. Mailmill can't be reached; trying again…", true);
      timer = setTimeout(save, 5000);
    }
  }
  function problems(found) {
    for (const part of canvas.querySelectorAll(".eb.wrong")) part.classList.remove("wrong");
    for (const { block } of found) canvas.querySelector(`[data-id="${CSS.escape(block ?? "")}"]`)?.classList.add("wrong");
  }
  addEventListener("beforeunload", (event) => {
    if (!same(doc, saved)) event.preventDefault();
  });
  const notice = h("div", { class: "editor-notice", role: "alert", hidden: true },
    h("p", {}, "This email was saved elsewhere in the meantime. Your latest changes aren't saved yet. Reload to discard them, or keep them to replace the other version."),
    button("Reload", () => {
      doc = saved;
      location.reload();
    }, { class: "second small" }),
    button("Keep my changes", () => {
      // The other user's changes are unknown here, so the whole document is sent. The other version stays in the list of versions.
      version = Number(notice.dataset.version);
      conflict = false;
      notice.hidden = true;
      clearTimeout(timer);
      saving = keep().finally(() => (saving = null));
    }, { class: "small" }));
  async function keep() {
    const sent = copy(doc), set = (path) => ({ op: "set", path, value: sent[path] });
    const wanted = [set("subject"), set("preheader"), { op: "set", path: "style", value: sent.style ?? {} }, set("blocks")];
    const body = new URLSearchParams({ csrf: root.dataset.csrf, act: "save", version, operations: JSON.stringify(wanted) });
    const answer = await fetch(root.dataset.editor, { method: "POST", body }).catch(() => null);
    const told = await answer?.json().catch(() => null);
    if (answer?.ok && told) {
      [saved, version] = [sent, told.version];
      say("All changes saved");
      text.textContent = told.text;
      warn(told.warnings);
      if (!same(doc, sent)) timer = setTimeout(save, 800);
    } else if (told?.code === "VERSION_CONFLICT") {
      conflict = true;
      notice.hidden = false;
      notice.dataset.version = told.version;
    } else say(`Not saved. ${told?.message ?? "Mailmill can't be reached."}`, true);
  }

  // --- Rich text: markup and ProseMirror ---

  const schema = new Schema({
    nodes: {
      doc: { content: "paragraph+" },
      paragraph: { content: "inline*", group: "block", parseDOM: [{ tag: "p" }], toDOM: () => ["p", 0] },
      text: { group: "inline" },
      break: { inline: true, group: "inline", selectable: false, parseDOM: [{ tag: "br" }], toDOM: () => ["br"] },
    },
    marks: {
      link: {
        attrs: { href: {} }, inclusive: false,
        parseDOM: [{ tag: "a[href]", getAttrs: (dom) => ({ href: dom.getAttribute("href") }) }],
        toDOM: (mark) => ["a", { title: mark.attrs.href }, 0],
      },
      bold: { parseDOM: [{ tag: "strong" }, { tag: "b" }], toDOM: () => ["strong", 0] },
      italic: { parseDOM: [{ tag: "em" }, { tag: "i" }], toDOM: () => ["em", 0] },
    },
  });
  // Parses the markup of rich text as the server does: unpaired marks are literal text.
  function parse(markup) {
    const paragraphs = [[]];
    let words = "", bold = false, italic = false, href = null;
    const flush = () => {
      const marks = [href && schema.marks.link.create({ href }), bold && schema.marks.bold.create(), italic && schema.marks.italic.create()];
      if (words) paragraphs.at(-1).push(schema.text(words, marks.filter(Boolean)));
      words = "";
    };
    const opens = (rest, mark, isOpen) => {
      const inside = rest.slice(mark.length).split("\n\n")[0];
      return isOpen || (!(mark === "*" && /^[ \n]/.test(inside)) && inside.includes(mark));
    };
    function read(rest) {
      while (rest) {
        const link = href === null && /^\[((?:\\.|[^\[\]\\])*)\]\(([^)]*)\)/s.exec(rest);
        let taken = 1;
        if (rest.startsWith("\\|")) taken = 2;
        else if (/^\\[*[\]\\_()#\-!`]/.test(rest)) {
          words += rest[1];
          taken = 2;
        } else if (rest[0] === "\n") {
          flush();
          if (rest[1] === "\n") {
            paragraphs.push([]);
            taken = /^\n+/.exec(rest)[0].length;
          } else paragraphs.at(-1).push(schema.nodes.break.create());
        } else if (rest.startsWith("***") && opens(rest, "***", bold && italic)) {
          flush();
          [bold, italic, taken] = [!bold, !italic, 3];
        } else if (rest.startsWith("**") && opens(rest, "**", bold)) {
          flush();
          [bold, taken] = [!bold, 2];
        } else if (rest[0] === "*" && rest[1] !== "*" && opens(rest, "*", italic)) {
          flush();
          italic = !italic;
        } else if (link) {
          flush();
          href = link[2].trim();
          read(link[1]);
          flush();
          href = null;
          taken = link[0].length;
        } else words += rest[0];
        rest = rest.slice(taken);
      }
    }
    read((markup ?? "").replaceAll("\r", "").trim());
    flush();
    return schema.nodes.doc.create(null, paragraphs.map((content) => schema.nodes.paragraph.create(null, content)));
  }
  const escape = (words) => words.replace(/[*[\]\\]/g, "\\$&");
  function markup(node) {
    const paragraphs = [];
    node.forEach((paragraph) => {
      let out = "";
      paragraph.forEach((part) => {
        if (part.type.name === "break") {
          out += "\n";
          return;
        }
        const has = (mark) => part.marks.find((one) => one.type.name === mark), link = has("link");
        const marks = (has("bold") ? "**" : "") + (has("italic") ? "*" : "");
        const [, lead, words, tail] = /^(\s*)(.*?)(\s*)$/s.exec(part.text);
        // Adjacent marks would merge, so an empty escape separates them.
        const gap = !link && marks && !lead && out.endsWith("*") ? "\\|" : "";
        const styled = words ? `${lead}${gap}${marks}${escape(words)}${marks}${tail}` : part.text;
        out += link ? `[${styled}](${link.attrs.href.replaceAll("(", "%28").replaceAll(")", "%29")})` : styled;
      });
      paragraphs.push(out.trim());
    });
    return paragraphs.filter((paragraph) => paragraph).join("\n\n");
  }
  function prose(block, path, label) {
    const key = `${block.id}.${path}`;
    const breaks = (state, dispatch) => {
      dispatch?.(state.tr.replaceSelectionWith(schema.nodes.break.create()).scrollIntoView());
      return true;
    };
    const keys = keymap({
      "Mod-b": toggleMark(schema.marks.bold), "Mod-i": toggleMark(schema.marks.italic),
      "Mod-k": () => (askLink(), true), "Shift-Enter": chainCommands(breaks),
    });
    const holder = h("div", { class: "eb-prose" });
    const view = new EditorView(holder, {
      state: EditorState.create({ doc: parse(at(block, path)), plugins: [keys, keymap(baseKeymap)] }),
      attributes: { role: "textbox", "aria-multiline": "true", "aria-label": label },
      handleDOMEvents: {
        focus: () => {
          focused = { view };
          tools();
        },
      },
      dispatchTransaction(transaction) {
        view.updateState(view.state.apply(transaction));
        tools();
        if (!transaction.docChanged) return;
        remember(key);
        put(block, path, markup(view.state.doc));
        changed();
      },
    });
    drawn.push(view);
    return holder;
  }
  // Creates a field for one line of plain text, which looks like the text in the email.
  function line(block, path, label, kind = "") {
    const field = h("textarea", { class: `eb-line ${kind}`, rows: "1", "aria-label": label, placeholder: label, value: at(block, path) ?? "" });
    const fit = () => {
      field.style.height = "auto";
      field.style.height = `${field.scrollHeight}px`;
    };
    field.addEventListener("input", () => {
      remember(`${block.id}.${path}`);
      if (field.value.includes("\n")) field.value = field.value.replaceAll("\n", " ");
      put(block, path, field.value.trim());
      fit();
      changed();
    });
    field.addEventListener("keydown", (event) => {
      if (event.key === "Enter") event.preventDefault();
    });
    field.addEventListener("focus", () => {
      focused = { field };
      tools();
    });
    later.push(fit);
    return field;
  }
  const later = [];

  // --- The toolbar ---

  const undoButton = button("Undo", undo, { class: "second small", disabled: true, title: "Ctrl+Z" });
  const redoButton = button("Redo", redo, { class: "second small", disabled: true, title: "Ctrl+Shift+Z" });
  // Pressing a toolbar button must not remove the selection from the text.
  const styler = (label, run, more) => button(label, run, { class: "second small", mousedown: (event) => event.preventDefault(), ...more });
  const inText = (command) => () => {
    if (focused?.view) command(focused.view.state, focused.view.dispatch, focused.view);
    focused?.view?.focus();
  };
  const boldButton = styler("Bold", inText(toggleMark(schema.marks.bold)), { "aria-pressed": "false", title: "Ctrl+B" });
  const italicButton = styler("Italic", inText(toggleMark(schema.marks.italic)), { "aria-pressed": "false", title: "Ctrl+I" });
  const linkButton = styler("Link", () => askLink(), { title: "Ctrl+K" });
  const mergeButton = styler("Merge field", () => askMergeField());
  function tools() {
    const view = focused?.view, state = view?.state;
    for (const one of [boldButton, italicButton, linkButton]) one.disabled = !view;
    mergeButton.disabled = !focused;
    for (const [one, mark] of [[boldButton, "bold"], [italicButton, "italic"]]) {
      const type = schema.marks[mark], { from, to, empty, $from } = state?.selection ?? {};
      const on = state && (empty ? type.isInSet(state.storedMarks ?? $from.marks()) : state.doc.rangeHasMark(from, to, type));
      one.setAttribute("aria-pressed", on ? "true" : "false");
    }
  }
  // Asks for values in a dialog, and calls `accept` with the form's values.
  function ask(title, parts, label, accept) {
    const form = h("form", { method: "dialog" }, h("h2", {}, title), parts,
      h("div", { class: "buttons" }, label && h("button", { value: "ok" }, label), h("button", { value: "", class: "second", formnovalidate: true }, "Cancel")));
    const dialog = h("dialog", { class: "editor-dialog", "aria-label": title }, form);
    dialog.addEventListener("close", () => {
      const values = Object.fromEntries(new FormData(form));
      dialog.remove();
      if (dialog.returnValue === "ok") accept(values);
    });
    root.append(dialog);
    dialog.showModal();
    return dialog;
  }
  let fields = 0;
  function labeled(label, control) {
    control.id ||= `ed-${++fields}`;
    return [h("label", { for: control.id }, label), control];
  }
  function askLink() {
    const view = focused?.view;
    if (!view) return;
    let { from, to, empty, $from } = view.state.selection;
    const type = schema.marks.link, current = type.isInSet(empty ? $from.marks() : $from.nodeAfter?.marks ?? []);
    if (current && empty) {
      // If the cursor is in a link, the whole link is edited.
      $from.parent.forEach((node, offset) => {
        const start = $from.start() + offset;
        if (type.isInSet(node.marks) && start <= from && from <= start + node.nodeSize) [from, to] = [start, start + node.nodeSize];
      });
    }
    const words = view.state.doc.textBetween(from, to);
    const { $to } = view.state.selection, text = h("input", { name: "words", required: true, value: words, readonly: !$from.sameParent($to) });
    const href = h("input", { name: "href", inputmode: "url", placeholder: "https://example.com/", value: current?.attrs.href ?? "" });
    ask("Link", [labeled("Text", text), labeled("Link (leave empty to remove the link)", href)], "Apply", (values) => {
      const link = values.href.trim();
      let change = view.state.tr;
      if (values.words !== words) {
        change = change.insertText(values.words, from, to);
        to = from + values.words.length;
      }
      change = change.removeMark(from, to, type);
      if (link) change = change.addMark(from, to, type.create({ href: link }));
      view.dispatch(change);
      view.focus();
    });
  }
  function askMergeField() {
    const target = focused;
    const select = h("select", { name: "field" }, data.mergeFields.map((field) => h("option", { value: field.name }, field.label)));
    const other = h("input", { name: "other", maxlength: "60", pattern: '[^"\\\\\\{\\}<>&]*', placeholder: "there" });
    ask("Merge field", [labeled("Field", select), labeled("Text for recipients without this value", other)], "Insert", (values) => {
      const words = values.other.trim(), inside = words ? `${values.field} | default("${words}")` : values.field;
      const inserted = `{{ ${inside} }}`;
      if (target.view) {
        target.view.dispatch(target.view.state.tr.insertText(inserted));
        target.view.focus();
      } else {
        const { field } = target;
        field.setRangeText(inserted, field.selectionStart, field.selectionEnd, "end");
        field.dispatchEvent(new Event("input"));
        field.focus();
      }
    });
  }

  // --- Changes to blocks ---

  function act(change) {
    remember();
    change();
    changed();
    draw();
  }
  function bounds(list) {
    return list === doc.blocks ? [1, list.length - 2] : [0, list.length - 1];
  }
  function shift(id, by) {
    const list = listOf(id), index = list.findIndex((block) => block.id === id), [first, last] = bounds(list);
    if (index + by < first || index + by > last) return;
    act(() => list.splice(index + by, 0, ...list.splice(index, 1)));
    focusTool(id, by < 0 ? "up" : "down");
  }
  function focusTool(id, which) {
    const part = canvas.querySelector(`[data-id="${CSS.escape(id)}"]`);
    const tool = part?.querySelector(`:scope > .eb-tools [data-tool="${which}"]`);
    (tool && !tool.disabled ? tool : part)?.focus();
    part?.scrollIntoView({ block: "nearest" });
  }
  function duplicate(id) {
    const list = listOf(id), index = list.findIndex((block) => block.id === id), made = name(copy(list[index]));
    act(() => list.splice(index + 1, 0, made));
    choose(made.id);
  }
  function remove(id) {
    const list = listOf(id), index = list.findIndex((block) => block.id === id);
    if (list !== doc.blocks && list.length === 1) return say("A column needs at least one block.", true);
    act(() => list.splice(index, 1));
    choose(list[Math.max(0, index - 1)]?.id ?? "");
    canvas.querySelector(`[data-id="${CSS.escape(selected)}"]`)?.focus();
  }
  function insert(after, block) {
    const list = listOf(after), index = list.findIndex((other) => other.id === after);
    if (list === doc.blocks && list.length >= data.max.blocks) return say(`An email can have at most ${data.max.blocks} blocks.`, true);
    const made = name(block);
    act(() => list.splice(index + 1, 0, made));
    choose(made.id);
    const text = canvas.querySelector(`[data-id="${CSS.escape(made.id)}"] :is(textarea, [contenteditable])`);
    // Focuses the first text field of the new block and selects its content, so that typing replaces it.
    text?.focus();
    if (text?.select) text.select();
    else if (text) getSelection().selectAllChildren(text);
  }
  function palette(after) {
    const inColumn = listOf(after) !== doc.blocks, hasHero = doc.blocks.some((block) => block.type === "hero");
    const fits = (type) => kinds.get(type)?.free && (!inColumn || kinds.get(type).in_columns) && !(type === "hero" && hasHero);
    const take = (block) => () => {
      dialog.close("");
      if (block.type === "image" && !block.image) return askImage({}, (image) => insert(after, { type: "image", image }));
      insert(after, copy(block));
    };
    const choice = (kind) => button(kind.label, take(data.new[kind.name] ?? { type: kind.name }), { class: "second" });
    const own = (data.savedBlocks ?? []).filter((one) => fits(one.block.type));
    const dialog = ask("Insert a block", [
      h("div", { class: "editor-palette" }, data.kinds.filter((kind) => fits(kind.name)).map(choice)),
      own.length > 0 && h("h3", {}, "Saved blocks"),
      own.length > 0 && h("div", { class: "editor-palette" }, own.map((one) => button(one.name, take(one.block), { class: "second" }))),
    ], "", () => {});
  }

  // --- Images ---

  const small = (src) => data.images.find((image) => image.url === src)?.preview ?? (src ? `${data.picture}${encodeURIComponent(src)}` : "");
  function picture(src, alt) {
    const image = h("img", { src: small(src), alt: alt || "", class: "eb-image" });
    // The editor can show only images from the brand's library; the preview shows others too.
    image.addEventListener("error", () => image.replaceWith(h("div", { class: "eb-noimage" }, alt || "Image (visible only in the preview)")));
    return image;
  }
  const SHAPES = [["", "Original"], ["2", "Wide (2:1)"], ["1.5", "Landscape (3:2)"], ["1", "Square"], ["0.75", "Portrait (3:4)"]];
  // Asks for an image, and calls `accept` with the image in the document's format.
  function askImage(current, accept) {
    let chosen = current.src ? { url: current.src, preview: small(current.src), width: current.width, height: current.height } : null;
    let file = null, focus = [0.5, 0.5], typed = false;
    const stage = h("div", { class: "focus-stage" }), mark = h("span", { class: "focus-mark" });
    const alt = h("input", { name: "alt", maxlength: "300", value: current.alt ?? "", input: () => (typed = true) });
    // The alt text of one image is wrong for another, but alt text that the user typed here stays.
    const describe = (about) => {
      if (!typed) alt.value = (about ?? "").slice(0, 300);
    };
    const url = h("input", { name: "url", type: "url", placeholder: "https://example.com/photo.jpg", input: () => describe("") });
    const shape = h("select", { name: "shape" }, SHAPES.map(([value, label]) => h("option", { value }, label)));
    const point = (axis, label) => h("input", { type: "range", min: "0", max: "100", value: "50", "aria-label": label, input: (event) => {
      focus[axis] = event.target.value / 100;
      place();
    } });
    const across = point(0, "Horizontal focus point"), down = point(1, "Vertical focus point");
    const place = () => {
      mark.style.left = `${focus[0] * 100}%`;
      mark.style.top = `${focus[1] * 100}%`;
      [across.value, down.value] = [focus[0] * 100, focus[1] * 100];
    };
    const show = () => {
      stage.replaceChildren();
      if (!chosen) return;
      const image = h("img", { src: chosen.preview, alt: "" });
      image.addEventListener("click", (event) => {
        const box = image.getBoundingClientRect();
        focus = [(event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height];
        place();
      });
      stage.append(image, mark);
      place();
    };
    const take = (image) => () => {
      [chosen, file] = [image, null];
      describe((image.url === current.src && current.alt) || image.about);
      show();
    };
    const upload = h("input", { type: "file", accept: "image/png,image/jpeg,image/webp,image/gif", change: () => {
      file = upload.files[0];
      if (!file) return;
      describe("");
      const reader = new FileReader();
      reader.addEventListener("load", () => {
        chosen = { url: "", preview: reader.result };
        show();
      });
      reader.readAsDataURL(file);
    } });
    const dialog = ask("Image", [
      h("div", { class: "editor-library", role: "group", "aria-label": "The brand's images" }, data.images.map((image) => h("button",
        { type: "button", click: take(image), class: "plain" }, h("img", { src: image.preview, alt: image.about || "Image", loading: "lazy" })))),
      data.mayUpload && labeled("Upload an image (PNG, JPEG, or WebP up to 7 MB, or GIF up to 3 MB)", upload), labeled("Or enter a URL", url), stage,
      labeled("Alt text: what the image shows", alt),
      data.mayUpload && h("details", {}, h("summary", {}, "Crop around the focus point"), labeled("Shape", shape),
        h("p", { class: "hint" }, "Click the most important point of the image, or move the sliders."), across, down),
    ], "Use image", async (values) => {
      const done = (image) => accept({ src: image.url, alt: values.alt.trim() || undefined, width: image.width ?? undefined, height: image.height ?? undefined });
      if (values.url) return done({ url: values.url });
      if (!chosen) return;
      try {
        if (!file && !values.shape) return done(chosen);
        say("Uploading…");
        const made = await store(values.shape ? await crop(chosen, Number(values.shape), focus) : file, values.alt);
        data.images.unshift(made);
        done(made);
      } catch (error) {
        say(error.message, true);
      }
    });
    show();
    return dialog;
  }
  async function store(file, about) {
    const body = new FormData();
    body.append("csrf", root.dataset.csrf);
    body.append("act", "upload");
    body.append("about", about);
    body.append("file", file, file.name ?? "image.jpg");
    const answer = await fetch(root.dataset.editor, { method: "POST", body }).catch(() => null);
    const told = await answer?.json().catch(() => null);
    if (!answer?.ok) throw new Error(told?.message ?? "The image couldn't be uploaded. Try again.");
    return told;
  }
  // Crops an image to the aspect ratio `ratio`: returns the largest such part, as close to the focus point as possible.
  async function crop(image, ratio, [x, y]) {
    const source = h("img", { src: image.url ? `${data.home}/image?of=${encodeURIComponent(image.url)}` : image.preview });
    await source.decode().catch(() => {
      throw new Error("This image can't be cropped. Choose the shape “Original”, or choose another image.");
    });
    const { naturalWidth: wide, naturalHeight: high } = source;
    const width = Math.min(wide, high * ratio), height = Math.min(high, wide / ratio);
    const left = Math.min(Math.max(x * wide - width / 2, 0), wide - width), top = Math.min(Math.max(y * high - height / 2, 0), high - height);
    const scale = Math.min(1, 1600 / width), board = h("canvas", { width: Math.round(width * scale), height: Math.round(height * scale) });
    board.getContext("2d").drawImage(source, left, top, width, height, 0, 0, board.width, board.height);
    return new Promise((done, fail) => board.toBlob((blob) => (blob ? done(blob) : fail(new Error("This image can't be cropped. Choose another image."))), "image/jpeg", 0.9));
  }

  // --- The canvas ---

  const canvas = h("div", { class: "editor-canvas", "aria-label": "Email content", role: "group" });
  const has = (block, path) => at(block, path) !== undefined;
  // Shows an email button whose label can be edited directly.
  const action = (block, path, emphasis = "primary") => h("span", { class: `eb-button ${emphasis}` }, line(block, path, "Button label"));
  const faces = {
    header: (b) => [b.logo ? picture(b.logo, b.name) : line(b, "name", "Name", "name"), b.links?.length > 0 && h("p", { class: "eb-quiet" }, b.links.map((l) => l.label).join(" · "))],
    hero: (b) => [line(b, "eyebrow", "Line above the title", "eyebrow"), line(b, "title", "Title", "title"), b.image && picture(b.image.src, b.image.alt),
      prose(b, "text", "Text"), has(b, "button") && action(b, "button.label")],
    text: (b) => [prose(b, "text", "Text")],
    heading: (b) => [line(b, "text", "Heading", b.level ?? "section")],
    image: (b) => [picture(b.image.src, b.image.alt), line(b, "caption", "Caption", "caption")],
    button: (b) => [action(b, "label", b.emphasis)],
    list: (b) => [h(b.marks === "numbers" ? "ol" : "ul", { class: b.marks ?? "bullets" }, b.items.map((item, index) => h("li", {},
      item.title !== undefined && line(b, `items.${index}.title`, "Bold opening words", "strong"), prose(b, `items.${index}.text`, `Item ${index + 1}`))))],
    products: (b) => [line(b, "title", "Title", "section"), h("div", { class: "eb-grid" }, b.products.map((product, index) => h("div", {},
      product.image && picture(product.image.src, product.image.alt), line(b, `products.${index}.name`, "Name", "strong"),
      line(b, `products.${index}.text`, "Text"), line(b, `products.${index}.price`, "Price"))))],
    quote: (b) => [b.stars && h("p", {}, "★".repeat(b.stars)), prose(b, "text", "Quote"), line(b, "author", "Author", "strong"), line(b, "role", "Role or place")],
    coupon: (b) => [line(b, "title", "Offer", "section"), line(b, "code", "Code", "code"), prose(b, "text", "Conditions"), has(b, "button") && action(b, "button.label")],
    countdown: (b) => [line(b, "title", "Event", "small"), line(b, "date", "Displayed date", "section"), prose(b, "text", "Text")],
    table: (b) => [line(b, "title", "Title", "small"), h("table", {},
      b.head?.length > 0 && h("thead", {}, h("tr", {}, b.head.map((_, index) => h("th", {}, line(b, `head.${index}`, `Heading of column ${index + 1}`, "strong"))))),
      h("tbody", {}, b.rows.map((row, index) => h("tr", { class: row.strong ? "strong" : "" }, row.cells.map((_, cell) => h("td", {},
        prose(b, `rows.${index}.cells.${cell}`, `Row ${index + 1}, column ${cell + 1}`)))))))],
    divider: (b) => [b.look === "space" ? h("div", { class: "eb-space" }, "Space") : h("hr")],
    social: (b) => [line(b, "title", "Title", "small"), h("p", { class: "eb-quiet" }, b.links.map((link) => link.name).join(" · "))],
    footer: (b) => [line(b, "sender", "Company or brand name", "strong"), line(b, "address", "Postal address"), prose(b, "reason", "Why recipients get this email"), line(b, "unsubscribe", "Unsubscribe link text", "link")],
    columns: (b) => [h("div", { class: "eb-side" }, b.columns.map((column) => h("div", {}, column.blocks.map((cell) => part(cell, column.blocks)))))],
  };
  function part(block, list) {
    const kind = kinds.get(block.type), index = list.indexOf(block), [first, last] = bounds(list), { id } = block;
    const tool = (label, which, run, disabled = false) => button(label, run, { class: "second tiny", "data-tool": which, disabled, "aria-label": `${label}: ${kind.label}` });
    const handle = kind.free && h("button", { type: "button", class: "eb-handle second tiny", pointerdown: (event) => drag(event, id), title: "Drag to move", "aria-hidden": "true", tabindex: "-1" }, "⠿");
    const bar = h("div", { class: "eb-tools", role: "toolbar", "aria-label": kind.label }, handle, h("span", { class: "eb-kind" }, kind.label),
      kind.free && [tool("Move up", "up", () => shift(id, -1), index <= first), tool("Move down", "down", () => shift(id, 1), index >= last),
        tool("Duplicate", "duplicate", () => duplicate(id)), tool("Delete", "delete", () => remove(id))]);
    const made = h("div", { class: `eb eb-${block.type}${id === selected ? " picked" : ""}`, "data-id": id, tabindex: "0", role: "group", "aria-label": `${kind.label} block` }, bar, h("div", { class: "eb-body" }, faces[block.type](block)));
    if (block.type !== "footer") made.append(button("Insert", () => palette(id), { class: "eb-insert", "aria-label": `Insert a block below: ${kind.label}` }));
    const pick = (event) => {
      event.stopPropagation();
      // A button that copies, moves or deletes the block also replaces this element and selects a block.
      if (made.isConnected) choose(id);
    };
    made.addEventListener("focusin", pick);
    made.addEventListener("click", pick);
    return made;
  }
  function draw() {
    for (const view of drawn) view.destroy();
    [drawn, focused] = [[], null];
    later.length = 0;
    const top = scrollY;
    canvas.replaceChildren(...doc.blocks.map((block) => part(block, doc.blocks)));
    for (const fit of later) fit();
    for (const [field, control] of headline) if (document.activeElement !== control) control.value = doc[field] ?? "";
    if (!blockOf(selected)) selected = "";
    paint();
    inspect();
    inbox();
    tools();
    scrollTo(0, top);
  }
  function choose(id) {
    if (selected === id) return;
    selected = id;
    for (const one of canvas.querySelectorAll(".eb")) one.classList.toggle("picked", one.dataset.id === id);
    inspect();
  }
  function paint() {
    const { colors, fonts } = data, style = doc.style ?? {}, dark = style.layout === "midnight";
    const set = (variable, value) => value ? canvas.style.setProperty(variable, value) : canvas.style.removeProperty(variable);
    set("--mail-ground", style.background ?? (dark ? "#15171c" : colors?.background));
    set("--mail-ink", dark ? "#f2f3f5" : colors?.text);
    set("--mail-button", style.button ?? style.primary ?? colors?.button ?? colors?.primary);
    set("--mail-on-button", style.button || style.primary ? "#ffffff" : colors?.buttonText);
    set("--mail-body", fonts?.body);
    set("--mail-heading", fonts?.heading ?? fonts?.body);
    canvas.dataset.corners = style.corners ?? "soft";
    canvas.dataset.layout = style.layout ?? "";
  }

  // Moves a block with the pointer (mouse, pen or finger).
  function drag(event, id) {
    event.preventDefault();
    const moved = canvas.querySelector(`[data-id="${CSS.escape(id)}"]`), { type } = blockOf(id);
    let target = null, after = false;
    moved.classList.add("dragged");
    const over = (move) => {
      if (move.clientY < 80) scrollBy(0, -12);
      if (move.clientY > innerHeight - 80) scrollBy(0, 12);
      clear();
      target = document.elementFromPoint(move.clientX, move.clientY)?.closest(".eb");
      const inColumn = target?.parentElement.closest(".eb");
      if (inColumn && !kinds.get(type).in_columns) target = inColumn;
      if (!target || moved.contains(target)) return (target = null);
      const box = target.getBoundingClientRect(), fixed = target.dataset.id;
      after = blockOf(fixed).type === "header" || (blockOf(fixed).type !== "footer" && move.clientY > box.top + box.height / 2);
      target.classList.add(after ? "drop-after" : "drop-before");
    };
    const clear = () => {
      for (const one of canvas.querySelectorAll(".drop-after, .drop-before")) one.classList.remove("drop-after", "drop-before");
    };
    const end = (last) => {
      removeEventListener("pointermove", over);
      removeEventListener("pointerup", end);
      removeEventListener("pointercancel", end);
      clear();
      moved.classList.remove("dragged");
      const from = listOf(id);
      if (!target || last.type === "pointercancel" || (from !== doc.blocks && from.length === 1)) return;
      act(() => {
        const [block] = from.splice(from.findIndex((one) => one.id === id), 1), to = listOf(target.dataset.id);
        to.splice(to.findIndex((one) => one.id === target.dataset.id) + (after ? 1 : 0), 0, block);
      });
    };
    addEventListener("pointermove", over);
    addEventListener("pointerup", end);
    addEventListener("pointercancel", end);
  }

  // --- The side panel: settings that are not edited in the email itself ---

  const side = h("aside", { class: "editor-side card", "aria-label": "Settings" });
  const INLINE = new Set(["line", "prose"]), SHOWN = new Set(["until", "image.alt", "priceBefore", "button", "button.label", "view", "name", "label", "title"]);
  function control(field, holder, path, redraw) {
    const value = at(holder, path), key = `${selected}.${path}`;
    const store = (next) => {
      remember(key);
      put(holder, path, next);
      if (field.control === "image") for (const size of ["width", "height"]) put(holder, path.replace("src", size), undefined);
      changed();
      if (redraw) draw();
    };
    if (field.control === "choice") {
      const select = h("select", { change: () => store(select.value) }, field.choices.map(([word, label]) => h("option", { value: word, selected: word === value }, label)));
      return labeled(field.label, select);
    }
    if (field.control === "check") {
      return h("label", { class: "choice" }, h("input", { type: "checkbox", checked: value === true, change: (event) => store(event.target.checked) }), h("span", {}, field.label));
    }
    if (field.control === "image") {
      const [parent] = path.split(".src"), current = path.endsWith(".src") ? at(holder, parent) ?? {} : { src: value };
      const set = (image) => act(() => path.endsWith(".src") ? put(holder, parent, { ...image, href: current.href }) : put(holder, path, image.src));
      return [h("p", { class: "eb-label" }, field.label), value && h("img", { src: small(value), alt: "", class: "side-image" }),
        h("div", { class: "buttons" }, button(value ? "Replace or edit image" : "Choose image", () => askImage(current, set), { class: "second small" }),
          value && selectedType() !== "image" && button("Remove image", () => act(() => put(holder, parent, undefined)), { class: "second small" }))];
    }
    const text = Array.isArray(value) ? value.join(" | ") : value ?? "";
    const input = h("input", { value: String(text), maxlength: field.max > 1 ? String(field.max) : undefined, type: field.control === "number" ? "number" : "text", min: "1", max: String(field.max) });
    input.addEventListener("change", () => {
      const given = input.value.trim();
      if (field.control === "cells") store(given ? given.split("|").map((cell) => cell.trim()) : []);
      else if (field.control === "number") store(given ? Number(given) : undefined);
      else store(given);
      draw();
    });
    return labeled(field.label, input);
  }
  const selectedType = () => blockOf(selected)?.type;
  function inspect() {
    const block = blockOf(selected);
    if (!block) return inspectStyle();
    const kind = kinds.get(block.type);
    const own = kind.fields.filter((field) => !INLINE.has(field.control) || (SHOWN.has(field.path) && !shownInPlace(block, field.path)));
    const items = kind.lists.map((list) => h("div", {}, h("h3", {}, `${list.label}s`), (block[list.path] ?? []).map((item, index) => h("details", { class: "item", name: "items" },
      h("summary", {}, `${list.label} ${index + 1}: ${item.name ?? item.label ?? item.title ?? item.cells?.[0] ?? item.text ?? ""}`.slice(0, 40)),
      list.fields.filter((field) => field.path !== "text" || block.type === "products").map((field) => control(field, item, field.path, true)),
      h("div", { class: "buttons" }, button("Move up", () => index > 0 && act(() => block[list.path].splice(index - 1, 0, ...block[list.path].splice(index, 1))), { class: "second tiny", disabled: index === 0 }),
        button("Delete", () => act(() => block[list.path].splice(index, 1)), { class: "danger tiny", disabled: block[list.path].length === 1 && kind.free })))),
      (block[list.path] ?? []).length < list.max && button(`Add ${list.label.toLowerCase()}`, () => act(() => (block[list.path] ??= []).push(empty(list, block))), { class: "second small" })));
    const reusable = kind.free && button("Save as a reusable block", () => keepBlock(block), { class: "second small" });
    side.replaceChildren(h("h2", {}, kind.label), ...own.flatMap((field) => control(field, block, field.path, true)).filter(Boolean),
      ...(block.type === "hero" || block.type === "coupon" ? [buttonToggle(block)] : []), ...items, reusable || "");
    if (!own.length && !items.length) side.append(h("p", { class: "hint" }, "Click any text in the email to edit it."));
  }
  const shownInPlace = (block, path) => !["until", "image.alt", "view", "button"].includes(path) && !(block.type === "header" && block.logo && path === "name");
  function buttonToggle(block) {
    const add = () => act(() => put(block, "button", { label: "Read more", href: data.site })), drop = () => act(() => delete block.button);
    return block.button ? button("Remove button", drop, { class: "second small" }) : button("Add a button", add, { class: "second small" });
  }
  function empty(list, block) {
    if (list.path === "rows") return { cells: (block.rows[0]?.cells ?? ["", ""]).map(() => "Text") };
    if (list.path === "items") return { text: "New point" };
    if (list.path === "products") return { name: "Product", href: data.site };
    return { [list.fields[0].path]: "Text", href: data.site };
  }
  const STYLES = [
    ["layout", "Layout", [["", "Automatic"], ["editorial", "Editorial"], ["bold", "Bold"], ["showcase", "Showcase"], ["letter", "Letter"], ["minimal", "Minimal"], ["cards", "Cards"], ["midnight", "Midnight"], ["bulletin", "Bulletin"]]],
    ["corners", "Corners", [["", "Same as the brand's theme"], ["sharp", "Sharp"], ["soft", "Soft"], ["round", "Round"]]],
  ];
  function inspectStyle() {
    const style = (doc.style ??= {});
    const selects = STYLES.flatMap(([path, label, choices]) => {
      const select = h("select", { change: () => act(() => put(style, path, select.value)) }, choices.map(([word, words]) => h("option", { value: word, selected: word === (style[path] ?? "") }, words)));
      return labeled(label, select);
    });
    const colors = [["primary", "Main color", data.colors?.primary], ["button", "Button color", data.colors?.button], ["boxes", "Box color", data.colors?.primary], ["background", "Background color", data.colors?.background]].map(([path, label, own]) => {
      const input = h("input", { type: "color", value: style[path] ?? own ?? "#ffffff", change: () => act(() => put(style, path, input.value.toUpperCase())) });
      return [...labeled(label, input), style[path] && button(`Use the brand's color`, () => act(() => put(style, path, undefined)), { class: "second tiny", "aria-label": `${label}: use the brand's color` })];
    });
    side.replaceChildren(h("h2", {}, "Email style"), h("p", { class: "hint" }, "Select a block to change its settings."), ...selects, ...colors.flat().filter(Boolean));
  }
  async function keepBlock(block) {
    ask("Save as a reusable block", [labeled("Name", h("input", { name: "name", required: true, maxlength: "80" }))], "Save", async ({ name: title }) => {
      const body = new URLSearchParams({ csrf: root.dataset.csrf, act: "keep", name: title, block: JSON.stringify(block) });
      const answer = await fetch(root.dataset.editor, { method: "POST", body }).catch(() => null), told = await answer?.json().catch(() => null);
      if (!answer?.ok) return say(told?.message ?? "The block couldn't be saved. Try again.", true);
      data.savedBlocks = told.savedBlocks;
      say(`Saved as “${title}”. You can now insert it in any of the brand's emails.`);
    });
  }

  // --- Subject, preheader and inbox ---

  function topLine(field, label, range, max) {
    const input = h("input", { maxlength: String(max), value: doc[field] ?? "" }), length = h("span", { class: "hint" });
    const count = () => (length.textContent = `${[...input.value].length} characters. Inboxes show the first ${range}.`);
    input.addEventListener("input", () => {
      remember(field);
      doc[field] = input.value.trim();
      count();
      inbox();
      changed();
    });
    input.addEventListener("focus", () => {
      focused = { field: input };
      tools();
    });
    counters.push(count);
    return [input, h("div", {}, labeled(label, input), length)];
  }
  const counters = [];
  const [subject, subjectPart] = topLine("subject", "Subject", "30 to 60", data.max.subject);
  const [preheader, preheaderPart] = topLine("preheader", "Preheader", "40 to 110", data.max.preheader);
  const headline = [["subject", subject], ["preheader", preheader]];
  const sender = h("strong"), inboxSubject = h("span", { class: "inbox-subject" }), inboxRest = h("span", { class: "quiet" });
  function inbox() {
    const plain = (words) => (words ?? "").replace(/\{\{\s*[\w]+\s*\|\s*default\("([^"]*)"\)\s*\}\}/g, "$1").replace(/\{\{\s*(\w+)\s*\}\}/g, (_, field) => field.replaceAll("_", " "));
    sender.textContent = doc.blocks.find((block) => block.type === "header")?.name ?? "";
    inboxSubject.textContent = plain(doc.subject);
    inboxRest.textContent = ` – ${plain(doc.preheader)}`;
    for (const count of counters) count();
  }
  const inboxPart = h("div", { class: "editor-inbox", role: "img", "aria-label": "Inbox preview" }, sender, h("p", {}, inboxSubject, inboxRest));

  // --- Views: the editor and the previews ---

  const text = h("pre", { class: "card", tabindex: "0", hidden: true }, data.text ?? "");
  const warnings = h("ul", { class: "editor-warnings" });
  const warn = (all) => warnings.replaceChildren(...all.map((one) => h("li", {}, one.message,
    ["links", "deliverability"].includes(one.kind) && one.text && !one.message.includes(one.text) && [" ", h("span", { class: "quiet" }, one.text)],
    [["Add it", one.add], ["Remove", one.remove]].map(([label, change]) => change && [" ",
      button(label, () => settle(change), { class: "second tiny", "aria-label": `${label}: ${one.text ?? one.message}` })]))));
  // Adds the text that a warning reports as missing, or removes the text that must not be in the email. The block may have been deleted in
  // the meantime.
  function settle({ op, path, id: gone, after, value }) {
    if (op === "remove") {
      const list = listOf(gone);
      return list && act(() => list.splice(list.findIndex((block) => block.id === gone), 1));
    }
    if (op === "insert") {
      const list = listOf(after) ?? doc.blocks, index = list.findIndex((block) => block.id === after);
      return act(() => list.splice(index < 0 ? list.length - 1 : index + 1, 0, name(copy(value))));
    }
    const [field, id, ...rest] = path.split("."), block = blockOf(id);
    if (field !== "blocks") act(() => (doc[field] = value));
    else if (block && !rest.length) act(() => listOf(id).splice(listOf(id).indexOf(block), 1, copy(value)));
    else if (block) act(() => put(block, rest.join("."), value));
  }
  const frame = h("iframe", { class: "mail", title: "Preview of the email", sandbox: "allow-popups allow-popups-to-escape-sandbox" });
  const stage = h("div", { class: "editor-preview", hidden: true }, frame, text);
  const work = h("div", { class: "editor-work" }, h("div", {}, canvas), side);
  const VIEWS = [["edit", "Edit"], ["desktop", "Desktop"], ["phone", "Phone"], ["dark", "Dark"], ["text", "Plain text"]];
  async function view(which) {
    for (const one of views) one.setAttribute("aria-pressed", one.dataset.view === which ? "true" : "false");
    [work.hidden, stage.hidden, text.hidden, frame.hidden] = [which !== "edit", which === "edit", which !== "text", which === "text"];
    bar.classList.toggle("previewing", which !== "edit");
    stage.dataset.view = which;
    if (which === "edit") return;
    // The first call can return a save that started before the latest changes, so a second save follows.
    await save();
    await save();
    frame.src = `${data.home}/frame?images=yes&dark=${which === "dark" ? "yes" : "no"}&shown=${++shown}`;
  }
  const views = VIEWS.map(([which, label]) => button(label, () => view(which), { "data-view": which, "aria-pressed": which === "edit" ? "true" : "false" }));
  const bar = h("div", { class: "editor-bar", role: "toolbar", "aria-label": "Editor" },
    h("div", { class: "editor-views", role: "group", "aria-label": "View" }, views),
    h("div", { class: "editor-tools", role: "group", "aria-label": "Text" }, boldButton, italicButton, linkButton, mergeButton),
    h("div", { class: "editor-tools", role: "group", "aria-label": "History" }, undoButton, redoButton),
    button("Email style", () => choose(""), { class: "second small style-button" }), status);

  root.append(h("div", { class: "card editor-top" }, subjectPart, preheaderPart, inboxPart), bar, notice, work, stage, warnings);
  root.hidden = false;
  document.getElementById("forms").hidden = true;
  addEventListener("keydown", (event) => {
    if (!(event.ctrlKey || event.metaKey) || event.altKey || event.target.closest?.("dialog")) return;
    const key = event.key.toLowerCase();
    if (key !== "z" && key !== "y") return;
    event.preventDefault();
    event.stopPropagation();
    if (key === "y" || event.shiftKey) redo();
    else undo();
  }, true);
  draw();
  warn(data.warnings);
})();
