/**
 * A document for libraries that write styles as text, which the page's Content-Security-Policy forbids: `<style>` elements become
 * constructed style sheets, and `style` attributes are set through the CSS object model. Both are allowed, since only scripts of the page can
 * do so; styles in markup stay forbidden.
 */

/** The document itself, but for the elements that it creates. */
export function strictDocument(): Document {
  return new Proxy(document, {
    get(target, name) {
      if (name === "createElement") return createStrictElement;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? (value as (...given: readonly unknown[]) => unknown).bind(target) : value;
    },
    set: (target, name, value) => Reflect.set(target, name, value, target),
  });
}

/** Runs a function for which every document creates elements as `strictDocument` does: for libraries that use the global one. */
export function withStrictElements(work: () => void): void {
  Object.defineProperty(document, "createElement", { value: createStrictElement, configurable: true });
  try {
    work();
  } finally {
    Reflect.deleteProperty(document, "createElement");
  }
}

/** Not by the method that is replaced above. */
const createElement = (tag: string) => document.createElementNS("http://www.w3.org/1999/xhtml", tag);

function createStrictElement(tag: string): HTMLElement {
  if (tag.toLowerCase() === "style") return styleSheetElement();
  const element = createElement(tag);
  element.setAttribute = (name: string, value: string) => {
    if (name.toLowerCase() === "style") element.style.cssText = value;
    else Element.prototype.setAttribute.call(element, name, value);
  };
  return element;
}

/** An invisible element in the place of a `<style>`: its text is a style sheet of the document until it is removed. */
function styleSheetElement(): HTMLElement {
  const element = createElement("span");
  const sheet = new CSSStyleSheet();
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
  Object.defineProperty(element, "textContent", {
    set(text: string) {
      sheet.replaceSync(text);
    },
  });
  element.hidden = true;
  element.remove = () => {
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((candidate) => candidate !== sheet);
    Element.prototype.remove.call(element);
  };
  return element;
}
