/**
 * Requirements of a test on the machine: `test("…", { ...needs("etcd") }, …)` runs if the setup found the tool; otherwise it is skipped and
 * listed with the reason. The setup (tools/setup.mjs) detects the tools once and writes the result to .cache/tools.json; this file only
 * reads it, so that no test spends time on detection.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { packageDirectory } from "./package-directory.ts";

/**
 * etcd, openssl, strace, kubectl 1.36, Helm 4, the test frameworks vitest 4 and jest 30, other majors of Node.js, permission to mount a
 * small tmpfs, loop devices with e2fsprogs, dig, a C compiler and musl's C library; and for real containers: containerd 1.6 or newer with runc and permission to run
 * containers, the CNI plugins, a static busybox, iptables, nftables, conntrack, xfsprogs, SQLite, and an image registry. Chromium is for the dashboard. Go, Python and a JDK are for the examples in these languages,
 * the Go modules for the operator of test/envtest.
 */
export type ToolName =
  | "etcd"
  | "openssl"
  | "strace"
  | "tmpfs"
  | "loop"
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
  | "nftables"
  | "conntrack"
  | "dig"
  | "musl"
  | "gcc"
  | "xfs"
  | "sqlite"
  | "registry"
  | "chromium"
  | "go"
  | "goModules"
  | "python3"
  | "java";

/** The tool's path, or why it is unavailable. */
export type Finding = { readonly path: string } | { readonly missing: string };

export type Findings = Readonly<Partial<Record<ToolName, Finding>>>;

/** Options to spread into those of a test: skips it, with the reason, unless all `tools` are available. */
export function needs(...tools: readonly ToolName[]): { readonly skip: string | false } {
  return skipUnless(tools, theFindings());
}

/**
 * Returns the path of the program. Requires `needs(tool)` in the test. For "tmpfs" it is the `mount` command, for "cni" the `bridge`
 * plugin, for "goModules" the module cache; test frameworks are run with node.
 */
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
