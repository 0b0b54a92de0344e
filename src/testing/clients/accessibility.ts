/** Accessibility findings of a page, by axe-core. */
import axe, { type AxeResults } from "axe-core";
import type { Page } from "playwright-core";

/** One line per serious or critical finding: its rule, and the elements. */
export async function seriousFindings(page: Page): Promise<readonly string[]> {
  // By the protocol of the debugger: the page's own policy forbids it to add scripts.
  await page.evaluate(axe.source);
  const { violations } = (await page.evaluate("axe.run()")) as AxeResults;
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`);
}
