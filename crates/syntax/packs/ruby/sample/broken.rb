class Broken
  # Before the fault.
  def before(count)
    count + 1
  end

  def wrong(count
    count + )
  end

  # After it.
  def after
    before(2)
  end
end
