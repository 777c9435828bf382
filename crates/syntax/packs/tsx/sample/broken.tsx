/** Before the fault. */
export function Before() {
  return <p>before</p>;
}

export function Broken() {
  return <p>broken</div;
}

/** After it. */
export const After = () => <Before />;
