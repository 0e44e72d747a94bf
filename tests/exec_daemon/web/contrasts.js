// Texts of the page whose contrast with what is behind them is below 4.5 (WCAG 2.2, 1.4.3).
() => {
  const parse = (colour) => colour.match(/[\d.]+/g).map(Number);
  const linear = (part) => (part / 255 <= 0.04045 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4);
  const light = ([r, g, b]) => 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
  const behind = (start) => {
    for (let node = start; node; node = node.parentElement) {
      const colour = parse(getComputedStyle(node).backgroundColor);
      if (colour.length < 4 || colour[3] > 0) return colour;
    }
    return [255, 255, 255];
  };
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const text = walker.currentNode.data.trim();
    const node = walker.currentNode.parentElement;
    if (!text || !node.getClientRects().length || node.closest("svg, .skip")) continue;
    const both = [light(parse(getComputedStyle(node).color)), light(behind(node))];
    const [high, low] = both.sort((one, other) => other - one);
    const ratio = (high + 0.05) / (low + 0.05);
    if (ratio < 4.5) found.push(`${text.slice(0, 30)} ${ratio.toFixed(2)}`);
  }
  return found;
};
