/**
 * The programs of one IP family: iptables-save and iptables-restore, or those of ip6tables. They are the machine's own (Debian's
 * alternatives choose nf_tables or legacy), so that the rules are in the same place as those of other programs.
 */
import { CommandError, type NetworkNamespace } from "../../../host/network/network-namespace.ts";
import type { ChainNames } from "./chain-names.ts";
import { TABLES } from "./fixed-chains.ts";
import { parseSavedRules, type SavedRules } from "./saved-rules.ts";
import type { Family } from "./rule-text.ts";

/** For the lock that other programs hold while they change rules. */
const LOCK_TIMEOUT_SECONDS = 30;

const RESTORE_ARGUMENTS = ["--noflush", `--wait=${LOCK_TIMEOUT_SECONDS}`];

export type XtablesVariant = "nf_tables" | "legacy";

export class Xtables {
  readonly #namespace: NetworkNamespace;
  readonly #program: string;
  readonly variant: XtablesVariant;

  private constructor(namespace: NetworkNamespace, program: string, variant: XtablesVariant) {
    this.#namespace = namespace;
    this.#program = program;
    this.variant = variant;
  }

  /** Rejects with a CommandError if the program is missing. */
  static async find(family: Family, namespace: NetworkNamespace): Promise<Xtables> {
    const program = family === 4 ? "iptables" : "ip6tables";
    const version = await namespace.run(`${program}-restore`, ["--version"]);
    return new Xtables(namespace, program, version.includes("nf_tables") ? "nf_tables" : "legacy");
  }

  /** Also rejects if the kernel lacks the family or this process may not change rules. */
  static async open(family: Family, namespace: NetworkNamespace): Promise<Xtables> {
    const xtables = await Xtables.find(family, namespace);
    // A restore of nothing needs the same permissions and modules as any other.
    await xtables.restore(TABLES.map((table) => `*${table}\nCOMMIT\n`).join(""));
    return xtables;
  }

  async restore(input: string): Promise<void> {
    await this.#namespace.run(`${this.#program}-restore`, RESTORE_ARGUMENTS, input);
  }

  /** Whether a restore succeeds. Rejects if the program cannot run at all. */
  async succeeds(input: string): Promise<boolean> {
    try {
      await this.restore(input);
      return true;
    } catch (error) {
      if (error instanceof CommandError && error.exitCode !== undefined) return false;
      throw error;
    }
  }

  async save(names: ChainNames): Promise<SavedRules> {
    return parseSavedRules(await this.saveText(), names);
  }

  async saveText(): Promise<string> {
    const texts: string[] = [];
    for (const table of TABLES) texts.push(await this.#namespace.run(`${this.#program}-save`, ["-t", table]));
    return texts.join("");
  }
}
