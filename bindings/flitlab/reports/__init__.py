"""The report of a sweep: one HTML file with its configuration, curves, tables, heat maps and scopes.

``runs`` repeats runs of the sweep, for heat maps and for scopes; ``figures`` draws them as SVG; ``page`` writes the
HTML; ``write`` has :func:`flitlab.report`. report.css and report.js belong to the page.
"""
