/**
 * What a test needs of the machine: `test("…", { ...needs("etcd") }, …)` runs where the set-up found the tool and is skipped,
 * counted and named with the reason where it did not. The set-up (tools/setup.mjs) looks once and writes what it found to
 * .cache/tools.json; this file only reads it, so that no test waits for a look of its own.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { packageDirectory } from "./package-directory.ts";

/**
 * etcd, openssl, strace, kubectl 1.36, Helm 4, the test frameworks vitest 4 and jest 30, other majors of Node.js, the right to mount a small tmpfs; and for real
 * containers: containerd 1.6 or newer with runc and the right to run containers, the plugins of CNI, a static busybox, iptables, and a
 * registry of images.
 */
export type ToolName =
  | "etcd"
  | "openssl"
  | "strace"
  | "tmpfs"
  | "kubectl"
  | "helm"
  | "vitest"
  | "jest"
  | "node22"
  | "node24"
  | "node26"
  | "containerd"
  | "cni"
  | "busybox"
  | "iptables"
  | "registry";

/** Where a tool is, or why it is not. */
export type Finding = { readonly path: string } | { readonly missing: string };

export type Findings = Readonly<Partial<Record<ToolName, Finding>>>;

/** To be spread into the options of a test: skips it, with the reason, unless all `tools` are there. */
export function needs(...tools: readonly ToolName[]): { readonly skip: string | false } {
  return skipUnless(tools, theFindings());
}

/** Where the program is. Only for tests that said `needs(tool)`. For "tmpfs" it is the `mount` command, for "cni" the plugin `bridge`; test frameworks are run with node. */
export function toolPath(tool: ToolName): string {
  const finding = findingOf(tool, theFindings());
  if ("missing" in finding) throw new Error(`Cannot use ${tool}: ${finding.missing}`);
  return finding.path;
}

export function skipUnless(tools: readonly ToolName[], findings: Findings): { readonly skip: string | false } {
  const reasons = tools.flatMap((tool) => {
    const finding = findingOf(tool, findings);
    return "missing" in finding ? [`needs ${tool}: ${finding.missing}`] : [];
  });
  return { skip: reasons.length === 0 ? false : reasons.join("; ") };
}

function findingOf(tool: ToolName, findings: Findings): Finding {
  return findings[tool] ?? { missing: "the set-up has not looked for it; run npm test" };
}

let read: Findings | undefined;

function theFindings(): Findings {
  read ??= readFindings(join(packageDirectory(import.meta.dirname), ".cache", "tools.json"));
  return read;
}

function readFindings(file: string): Findings {
  return existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as Findings) : {};
}
