import assert from "node:assert/strict";
import test from "node:test";
import fc from "fast-check";
import { CronError, parseCronSchedule, type CronFields } from "./cron-schedule.ts";

function fieldsOf(text: string): CronFields {
  const schedule = parseCronSchedule(text);
  if ("everyNanoseconds" in schedule) throw new Error(`${text} has no fields`);
  return schedule;
}

/** Numbers with commas, prefixed with a star for a wildcard. */
function shown(text: string): string {
  return Object.values(fieldsOf(text))
    .map(({ values, isStar }) => (isStar ? `*${values.size}` : [...values].join(",")))
    .join(" ");
}

const SCHEDULES: readonly [text: string, fields: string][] = [
  ["* * * * *", "*60 *24 *31 *12 *7"],
  ["*/15 0-4/2 1,15 JAN-mar Mon-FRI", "0,15,30,45 0,2,4 1,15 1,2,3 1,2,3,4,5"],
  ["?/20 ? 30/1 12 0", "0,20,40 *24 30,31 12 0"],
  ["+5 , 1 1 sun", "5  1 1 0"],
  ["*/1 *-x 1 1 6", "*60 *24 1 1 6"],
  ["\t0  0\n1 1 0 ", "0 0 1 1 0"],
  ["@yearly", "0 0 1 1 *7"],
  ["@annually", "0 0 1 1 *7"],
  ["@monthly", "0 0 1 *12 *7"],
  ["@weekly", "0 0 *31 *12 0"],
  ["@daily", "0 0 *31 *12 *7"],
  ["@midnight", "0 0 *31 *12 *7"],
  ["@hourly", "0 *24 *31 *12 *7"],
  ["TZ=Europe/Berlin 1 2 3 4 5", "1 2 3 4 5"],
  ["CRON_TZ=UTC @daily", "0 0 *31 *12 *7"],
];

for (const [text, fields] of SCHEDULES) {
  test(`the schedule ${JSON.stringify(text)} matches ${fields}`, () => {
    assert.equal(shown(text), fields);
  });
}

test("an @every interval is parsed as a duration", () => {
  assert.deepEqual(parseCronSchedule("@every 1h30m"), { everyNanoseconds: 5_400_000_000_000n });
});

const PROBLEMS: readonly [text: string, problem: string][] = [
  ["", "empty spec string"],
  ["TZ=UTC ", "expected exactly 5 fields, found 0: []"],
  ["* * * *", "expected exactly 5 fields, found 4: [* * * *]"],
  ["60 * * * *", "end of range (60) above maximum (59): 60"],
  ["* * 0 * *", "beginning of range (0) below minimum (1): 0"],
  ["* * * * 7", "end of range (7) above maximum (6): 7"],
  ["5-1 * * * *", "beginning of range (5) beyond end of range (1): 5-1"],
  ["100/5 * * * *", "beginning of range (100) beyond end of range (59): 100/5"],
  ["*/0 * * * *", "step of range should be a positive number: */0"],
  ["1-2-3 * * * *", "too many hyphens: 1-2-3"],
  ["*/2/3 * * * *", "too many slashes: */2/3"],
  ["x * * * *", 'failed to parse int from x: strconv.Atoi: parsing "x": invalid syntax'],
  ["mon * * * *", 'failed to parse int from mon: strconv.Atoi: parsing "mon": invalid syntax'],
  ["*/-5 * * * *", "negative number (-5) not allowed: -5"],
  [
    "99999999999999999999 * * * *",
    'failed to parse int from 99999999999999999999: strconv.Atoi: parsing "99999999999999999999": value out of range',
  ],
  ["@foo", "unrecognized descriptor: @foo"],
  ["@every x", 'failed to parse duration @every x: time: invalid duration "x"'],
  ["TZ=Nowhere * * * * *", "provided bad location Nowhere: unknown time zone Nowhere"],
  ["TZ=UTC", "invalid schedule format: runtime error: slice bounds out of range [:-1]"],
];

for (const [text, problem] of PROBLEMS) {
  test(`${JSON.stringify(text)} is rejected as a schedule`, () => {
    let message: string | undefined;
    try {
      parseCronSchedule(text);
    } catch (error) {
      if (error instanceof CronError) ({ message } = error);
    }
    assert.equal(message, problem);
  });
}

test("any text is parsed to a schedule with numbers in range, or rejected", () => {
  const text = fc.array(fc.constantFrom(..."*?/-,0123456789 @TZ=jan".split("")), { maxLength: 30 }).map((letters) => letters.join(""));
  fc.assert(
    fc.property(fc.oneof(text, fc.string()), (candidate) => {
      try {
        const schedule = parseCronSchedule(candidate);
        if ("everyNanoseconds" in schedule) return;
        for (const minute of schedule.minute.values) assert.ok(minute >= 0 && minute <= 59);
        for (const month of schedule.month.values) assert.ok(month >= 1 && month <= 12);
      } catch (error) {
        assert.ok(error instanceof CronError, String(error));
      }
    }),
  );
});
