/** The element that the page is rendered into; tools/generate/dashboard-page.ts writes it. */

export function rootElement(): HTMLElement {
  const element = document.querySelector<HTMLElement>("#app");
  if (element === null) throw new Error('The page has no element with the id "app"');
  return element;
}
