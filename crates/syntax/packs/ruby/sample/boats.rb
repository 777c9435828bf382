# frozen_string_literal: true

require "json"
require_relative "harbour/crane"
load 'tide.rb'
autoload :Chart, "harbour/chart"

# Boats and where they lie. — „Hafen“
module Harbour
  # The most boats at one pier.
  MOST_BOATS = 40
  NAMES = %w[Möwe Ente].freeze

  class Full < StandardError; end

  # A boat.
  #
  # It has a name.
  class Boat < Vessels::Base
    include Comparable
    attr_reader :name, :length

    def initialize(name, length = 5, *crew, flag: "ж", **rest, &on_sail)
      super(name)
      @name = name
      @crew = crew.map { |member; pier| Member.new(member) }
    end

    # Compares by length.
    def <=>(other) = length <=> other.length

    def name=(value)
      @name = value.strip
    end

    def empty?; end

    class << self
      # Reads one.
      def load(file)
        text, = File.read(file)
        new(JSON.parse(text)["name"])
      rescue Errno::ENOENT => problem
        warn "moor #{moor(file) { "quay moor" }}: #{problem.message}"
      end
    end

    def self.moor(boat, pier)
      raise Full, "no room at #{pier}" if pier.boats.size >= MOST_BOATS

      pier.moor boat
      puts boat
      boat.length.times do |turn|
        rope = turn + 1
        tie rope
      end
    end

    private def creak
      <<~TEXT
        moor #{name}
      TEXT
    end
  end

  def self.open
    Harbour::Boat.new("a")
  end

  def close
    yield
  end
end

class Harbour::Pier
  attr_accessor :boats

  def moor(boat)
    boats << boat
  end
end

def main(argv)
  pier = Harbour::Pier.new
  Harbour::Boat.moor(Harbour::Boat.load(argv.first), pier)
end
