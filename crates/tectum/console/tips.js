// Shows the values of a picture at the pointer: whatever has `data-tip` says it there.

/** Begins to watch the pointer. */
export function tips() {
  const tip = document.createElement('div');
  tip.className = 'tip';
  tip.setAttribute('aria-hidden', 'true');
  document.body.append(tip);
  const hide = () => tip.classList.remove('on');
  document.addEventListener('pointermove', (event) => {
    const told = /** @type {Element} */ (event.target).closest?.('[data-tip]');
    if (!told) return hide();
    tip.textContent = told.getAttribute('data-tip');
    tip.classList.add('on');
    const { width, height } = tip.getBoundingClientRect();
    const x = Math.min(event.clientX + 12, innerWidth - width - 8);
    const y = event.clientY - height - 10 < 4 ? event.clientY + 16 : event.clientY - height - 10;
    tip.style.transform = `translate(${Math.max(4, x)}px, ${y}px)`;
  }, { passive: true });
  document.addEventListener('scroll', hide, { passive: true, capture: true });
}
