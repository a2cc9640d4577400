/** Numbers and labels in words. */

const whole = new Intl.NumberFormat("en");

export const count = (number) => whole.format(number);

export const counted = (number, one, many = `${one}s`) => `${count(number)} ${number === 1 ? one : many}`;

/** What a label is called: its text where it has one, since names may be codes. */
export const title = ({ label, text }) => text || label;

/** The name beside its text, where that says more. */
export const code = ({ label, text }) => (text && text !== label ? label : null);

/** How sure: a share in percent if it is a probability, else the bare score. */
export function sureness({ score, probability }) {
  if (probability === null) return Math.abs(score) < 100 ? score.toFixed(2) : score.toPrecision(3);
  const percent = 100 * probability;
  return percent > 0 && percent < 1 ? "<1 %" : `${Math.floor(percent + 0.5)} %`;
}

export function duration(seconds) {
  if (seconds < 1) return "a second";
  if (seconds < 90) return counted(Math.round(seconds), "second");
  return seconds < 5400 ? counted(Math.round(seconds / 60), "minute") : counted(Math.round(seconds / 3600), "hour");
}
