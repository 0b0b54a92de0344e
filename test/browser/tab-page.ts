/** The bundled page in Chromium, served on loopback by a static server: started once per file of tests. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, before } from "node:test";
import type { BrowserContextOptions, Locator, Page } from "playwright-core";
import { Disposables } from "../../src/base/disposables.ts";
import { makeQuietNamespace, startBrowser, type OpenedPage, type TestBrowser } from "../../src/testing/clients/browser.ts";
import { needs } from "../../src/testing/needs.ts";
import { packageDirectory } from "../../src/testing/package-directory.ts";

export const PAGE_NEEDS = needs("chromium");

export interface TabPages {
  readonly url: string;
  /** A page whose cluster runs. `query`: such as "?lesson=2". */
  open(query?: string, options?: BrowserContextOptions): Promise<OpenedPage>;
  /** A page that has loaded nothing yet. */
  openEmpty(): Promise<OpenedPage>;
  /** Ends the static server: nothing can be loaded any more. */
  cutNetwork(): Promise<void>;
}

export function useTabPages(): () => TabPages {
  let pages: TabPages | undefined;
  const owned = new Disposables();
  if (PAGE_NEEDS.skip !== false) return () => pages as TabPages;
  before(async () => {
    pages = await startTabPages(owned);
  });
  after(() => owned[Symbol.asyncDispose]());
  return () => pages as TabPages;
}

/** Closed with `owned`. */
export async function startTabPages(owned: Disposables, directory = bundledPage()): Promise<TabPages> {
  const namespace = makeQuietNamespace({ after: (end: () => void) => owned.defer(() => Promise.resolve(end())) });
  const enter = namespace === undefined ? [] : ["nsenter", `--net=/run/netns/${namespace}`, "--"];
  const words = [join(import.meta.dirname, "serve-files.js"), directory];
  const server = spawn(enter[0] ?? process.execPath, enter[0] === undefined ? words : [...enter.slice(1), process.execPath, ...words], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const stop = async (): Promise<void> => {
    if (server.exitCode !== null || server.signalCode !== null) return;
    const exited = once(server, "exit");
    server.kill("SIGKILL");
    await exited;
  };
  owned.defer(stop);
  const [url] = (await once(createInterface(server.stdout), "line")) as [string];
  const browser: TestBrowser = owned.use(await startBrowser({ namespace }));
  return {
    url,
    async open(query = "", options) {
      const opened = await browser.open({ locale: "en-US", ...options });
      await opened.page.goto(url + query);
      await untilStarted(opened.page);
      return opened;
    },
    openEmpty: () => browser.open({ locale: "en-US" }),
    cutNetwork: stop,
  };
}

/** The bundle of the test run. */
function bundledPage(): string {
  return join(packageDirectory(import.meta.dirname), "out/browser");
}

export async function untilStarted(page: Page): Promise<void> {
  await page.getByRole("textbox", { name: /^(Prompt|프롬프트)$/ }).waitFor({ state: "attached" });
}

/** Enters a command in the prompt and waits until it has ended. */
export async function enter(page: Page, command: string): Promise<void> {
  const input = page.getByRole("textbox", { name: /^(Prompt|프롬프트)$/ });
  await input.fill(command);
  await input.press("Enter");
  await page.locator(".prompt-line:not(:has(button))").waitFor();
}

/** Reads that a value may take to appear: each is a round trip to the browser. */
const READS_MAX = 10_000;

/** The value of an input is no attribute, so no selector can wait for it. */
export async function untilValue(input: Locator, value: string): Promise<void> {
  for (let reads = 0; (await input.inputValue()) !== value; reads++)
    if (reads > READS_MAX)
      throw new Error(`The input has the value ${JSON.stringify(await input.inputValue())}, not ${JSON.stringify(value)}`);
}
