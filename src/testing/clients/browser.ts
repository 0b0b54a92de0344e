/**
 * Chromium for tests of pages. It runs in a network namespace of its own together with the server, if the test may create one: Chromium
 * aborts all requests when any address of the machine changes, and other tests add network interfaces.
 */
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium, type Browser, type BrowserContext, type BrowserContextOptions, type Page } from "playwright-core";
import { toolPath } from "../needs.ts";

/** No window, no sandbox (tests run as root), no traffic of its own. */
const ARGUMENTS = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** Reached only on failure: a machine that runs many tests may need minutes for what takes milliseconds alone. */
const TIMEOUT_MS = 100_000;

/** A name for a namespace with only a loopback device. Undefined: this user cannot create one, nor can another test. */
export function makeQuietNamespace(life: { after(end: () => void): void }): string | undefined {
  if (process.getuid?.() !== 0 || process.platform !== "linux") return undefined;
  // Random, so that a namespace which a killed run left behind is not in the way.
  const name = `k8ts-browser-${randomBytes(4).toString("hex")}`;
  execFileSync("ip", ["netns", "add", name]);
  life.after(() => void execFileSync("ip", ["netns", "delete", name]));
  execFileSync("ip", ["-n", name, "link", "set", "lo", "up"]);
  return name;
}

/** What a page has reported, besides what it shows. */
export interface OpenedPage {
  readonly page: Page;
  /** Errors of the console, uncaught exceptions, and requests to another origin. */
  readonly problems: string[];
}

export interface TestBrowser extends AsyncDisposable {
  /** A page with its own, empty profile. */
  open(options?: BrowserContextOptions): Promise<OpenedPage>;
}

/** Requires `needs("chromium")` in the test. */
export async function startBrowser({ namespace }: { readonly namespace?: string | undefined } = {}): Promise<TestBrowser> {
  const directory = await mkdtemp(join(tmpdir(), "k8ts-browser-"));
  const program = join(directory, "chromium");
  const enter = namespace === undefined ? "" : `nsenter --net=/run/netns/${namespace} -- `;
  await writeFile(program, `#!/bin/sh\nexec ${enter}${toolPath("chromium")} "$@"\n`, { mode: 0o755 });
  const browser = await chromium.launch({ executablePath: program, args: ARGUMENTS, timeout: TIMEOUT_MS });
  return {
    open: (options = {}) => openPage(browser, options),
    async [Symbol.asyncDispose]() {
      await browser.close();
      await rm(directory, { recursive: true });
    },
  };
}

async function openPage(browser: Browser, options: BrowserContextOptions): Promise<OpenedPage> {
  // The certificate is of the cluster's own CA.
  const context = await browser.newContext({ ignoreHTTPSErrors: true, ...options });
  context.setDefaultTimeout(TIMEOUT_MS);
  const page = await context.newPage();
  return { page, problems: collectProblems(context, page) };
}

function collectProblems(context: BrowserContext, page: Page): string[] {
  const problems: string[] = [];
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) problems.push(`${message.type()}: ${message.text()}`);
  });
  page.on("pageerror", (error) => problems.push(`exception: ${error.message}`));
  context.on("request", (request) => {
    const { protocol, origin } = new URL(request.url());
    if (protocol !== "data:" && protocol !== "blob:" && page.url().startsWith("https:") && origin !== new URL(page.url()).origin)
      problems.push(`request: ${request.url()}`);
  });
  return problems;
}
