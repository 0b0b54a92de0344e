/**
 * `npm run attack [-- NAME ...]`: runs the attacks sequentially, each on its own API server, and prints a line for each. The exit code is 1
 * if one of them succeeded, 2 if a name is unknown.
 */
import { all } from "./all.ts";
import type { Attack, AttackReport } from "./attack.ts";
import { startTarget } from "./target.ts";

async function main(names: readonly string[]): Promise<number> {
  if (names.includes("--help")) return usage();
  const unknown = names.filter((name) => !all.some((attack) => attack.name === name));
  if (unknown.length > 0) {
    console.error(`Unknown attacks: ${unknown.map((name) => JSON.stringify(name)).join(", ")}; npm run attack -- --help lists them`);
    return 2;
  }
  let breaches = 0;
  for (const attack of all.filter(({ name }) => names.length === 0 || names.includes(name))) breaches += await runAttack(attack);
  console.log(breaches === 0 ? "No attack succeeded" : `${breaches} breaches`);
  return breaches === 0 ? 0 : 1;
}

async function runAttack(attack: Attack): Promise<number> {
  await using target = await startTarget(attack.flags);
  const signal = AbortSignal.timeout(attack.timeoutMs);
  const cancelled = new Promise<AttackReport>((resolve) => {
    signal.addEventListener("abort", () => resolve({ attempts: 0, breaches: [`cancelled after ${attack.timeoutMs} ms`] }));
  });
  const { attempts, breaches, measured = {} } = await Promise.race([attack.run(target, signal), cancelled]);
  const values = Object.entries(measured).map(([name, value]) => `, ${name} ${value}`);
  console.log(`${breaches.length === 0 ? "held  " : "BREACH"}  ${attack.name}  ${attempts} attempts${values.join("")}`);
  for (const breach of breaches) console.log(`          ${breach}`);
  return breaches.length;
}

function usage(): number {
  console.log(`Usage: npm run attack -- [NAME ...]\n\nAttacks (default: all):`);
  for (const { name, tries } of all) console.log(`  ${name.padEnd(24)}  ${tries}`);
  return 0;
}

process.exitCode = await main(process.argv.slice(2));
