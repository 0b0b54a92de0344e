/** What a person does in the list of Pods and with the map, and how long the page takes for it. */
import type { Page } from "playwright-core";

export interface Interaction {
  readonly name: string;
  /** Event of the page that begins it. */
  readonly event: "keydown" | "click" | "focusin";
  act(page: Page): Promise<unknown>;
  /** JavaScript that is true when the result is shown. */
  readonly shows: string;
  /** Restores the page. */
  undo?(page: Page): Promise<unknown>;
}

const filter = (page: Page) => page.getByRole("searchbox", { name: "Filter pods" });
const count = "Number(document.querySelector('.table').getAttribute('aria-rowcount'))";
const order = "document.querySelector('[aria-sort=ascending], [aria-sort=descending]')?.getAttribute('aria-sort')";

export const INTERACTIONS: readonly Interaction[] = [
  {
    name: "scroll-to-end",
    event: "keydown",
    act: (page) => page.locator(".rows [role=row][tabindex='0']").first().press("End"),
    shows: `document.querySelector('[aria-rowindex="' + ${count} + '"]') !== null`,
    undo: (page) => page.locator(".rows [role=row][tabindex='0']").first().press("Home"),
  },
  {
    name: "filter",
    event: "keydown",
    act: async (page) => {
      await filter(page).focus();
      await page.keyboard.press("z");
    },
    shows: `${count} < globalThis.rowsBefore`,
    async undo(page) {
      await filter(page).fill("");
      await page.evaluate(`new Promise(function check(resolve) {
        ${count} >= globalThis.rowsBefore ? resolve() : requestAnimationFrame(() => check(resolve));
      })`);
    },
  },
  {
    name: "sort",
    event: "click",
    act: (page) => page.getByRole("button", { name: /^Name(?!s)/ }).click(),
    shows: `${order} !== globalThis.orderBefore`,
  },
];

/** In the cluster map of all namespaces. */
export const MAP_INTERACTIONS: readonly Interaction[] = [
  {
    name: "map-highlight",
    event: "focusin",
    act: (page) => page.locator("a.item").first().focus(),
    shows: "document.querySelector('a.item.near') !== null",
    undo: (page) => page.evaluate("document.activeElement.blur()"),
  },
];

/** Milliseconds from the event to the frame that shows the result. */
export async function timed(page: Page, { event, act, shows, undo }: Interaction): Promise<number> {
  await page.evaluate(`globalThis.rowsBefore = document.querySelector('.table') === null ? 0 : ${count}; globalThis.orderBefore = ${order};
    globalThis.tookMs = new Promise((resolve) => addEventListener(${JSON.stringify(event)}, ({ timeStamp }) => {
      const check = () => (${shows}) ? requestAnimationFrame(() => resolve(performance.now() - timeStamp)) : requestAnimationFrame(check);
      requestAnimationFrame(check);
    }, { once: true, capture: true })); undefined`);
  await act(page);
  const tookMs = await page.evaluate<number>("globalThis.tookMs");
  await undo?.(page);
  return tookMs;
}
