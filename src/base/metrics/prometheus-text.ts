/** Prometheus text exposition format: families of samples, each with help and type. */

/** Its media type. */
export const PROMETHEUS_TYPE = "text/plain; version=0.0.4; charset=utf-8";

export type Labels = Readonly<Record<string, string>>;

export interface Sample {
  readonly labels: Labels;
  readonly value: number;
  /** Timestamp of the sample, if it is not now. */
  readonly atMs?: number;
}

export interface Family {
  readonly name: string;
  readonly help: string;
  readonly type: "counter" | "gauge";
  readonly samples: readonly Sample[];
}

export interface HistogramSample {
  readonly labels: Labels;
  /** Not cumulative: observations between the previous bound and this one; the last is for everything above. */
  readonly counts: readonly number[];
  readonly sum: number;
  readonly count: number;
}

export interface HistogramFamily {
  readonly name: string;
  readonly help: string;
  readonly type: "histogram";
  readonly bounds: readonly number[];
  readonly samples: readonly HistogramSample[];
}

/** A family without samples is omitted: nothing is known yet. */
export function prometheusText(families: readonly (Family | HistogramFamily)[]): string {
  return families
    .filter(({ samples }) => samples.length > 0)
    .map(
      (family) =>
        [`# HELP ${family.name} ${escapeHelp(family.help)}`, `# TYPE ${family.name} ${family.type}`, ...linesOf(family)].join("\n") + "\n",
    )
    .join("");
}

function linesOf(family: Family | HistogramFamily): readonly string[] {
  if (family.type === "histogram") return family.samples.flatMap((sample) => histogramLines(family, sample));
  return family.samples.map(
    ({ labels, value, atMs }) => `${line(family.name, pairsOf(labels), value)}${atMs === undefined ? "" : ` ${atMs}`}`,
  );
}

function histogramLines({ name, bounds }: HistogramFamily, { labels, counts, sum, count }: HistogramSample): readonly string[] {
  // Written once for all buckets: a page may have thousands of histograms.
  const pairs = pairsOf(labels);
  const bucket = `${name}_bucket{${pairs === "" ? "" : `${pairs},`}le=`;
  let below = 0;
  return [
    ...bounds.map((bound, index) => {
      below += counts[index] ?? 0;
      return `${bucket}"${bound}"} ${below}`;
    }),
    `${bucket}"+Inf"} ${count}`,
    line(`${name}_sum`, pairs, sum),
    line(`${name}_count`, pairs, count),
  ];
}

function line(name: string, pairs: string, value: number): string {
  return `${name}${pairs === "" ? "" : `{${pairs}}`} ${value}`;
}

function pairsOf(labels: Labels): string {
  return Object.entries(labels)
    .map(([label, text]) => `${label}="${escapeLabel(text)}"`)
    .join(",");
}

function escapeHelp(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n");
}

function escapeLabel(text: string): string {
  return escapeHelp(text).replaceAll('"', '\\"');
}
